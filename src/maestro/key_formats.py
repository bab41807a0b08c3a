"""Lists how the keys and tokens of services look. Pure data.

Each is known by the characters that it begins with. The facts are those of public rule sets of secret scanners and of the
services' own pages. `least` is forgiving, so that a key of another length goes too; `whole` is the length of a real one,
by which a key that a line end has split is put together. Of many kinds there are longer ones; of an exact kind there are
none, so what stands below a whole key is no part of it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_HEX: Final = "0-9a-fA-F"
_ALNUM: Final = "A-Za-z0-9"
_WORD: Final = "A-Za-z0-9_-"
_DOTTED: Final = "A-Za-z0-9_.-"
_BASE64: Final = "A-Za-z0-9+/=_-"
_UPPER: Final = "A-Z0-9"


class Format(NamedTuple):
    """The keys of one kind: one of these beginnings, then so many of these characters."""

    begins: tuple[str, ...]
    letters: str  # as in a class of a pattern
    least: int
    whole: int
    before: int = 0  # how many characters of the key may stand before what it is known by
    is_exact: bool = False


FORMATS: Final = (
    # Maestro's own: of the person, of a session.
    Format(("mhu_", "mst_"), _WORD, 16, 43, is_exact=True),
    # Models.
    Format(("sk-",), _WORD, 12, 32),
    Format(("sk-ant-",), _WORD, 12, 101),
    Format(("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-"), _WORD, 12, 124),
    Format(("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-"), _WORD, 12, 156),
    Format(("sk-or-v1-",), _HEX, 12, 64),
    Format(("gsk_",), _ALNUM, 20, 52, is_exact=True),
    Format(("xai-",), _WORD, 40, 80),
    Format(("r8_",), _WORD, 30, 37),
    Format(("nvapi-",), _WORD, 40, 64),
    Format(("pplx-",), _ALNUM, 20, 48),
    Format(("tvly-",), _WORD, 24, 32),
    Format(("hf_", "api_org_"), _ALNUM, 20, 34, is_exact=True),
    Format(("tfp_",), _WORD, 40, 40),
    Format(("pcsk_",), _WORD, 40, 69),
    Format(("lsv2_pt_", "lsv2_sk_"), f"{_HEX}_", 20, 43),
    # Clouds.
    Format(("AKIA", "ASIA", "ABIA", "ACCA"), _UPPER, 12, 16, is_exact=True),
    Format(("ABSK",), _BASE64, 60, 109),
    Format(("bedrock-api-key-",), _BASE64, 20, 100),
    Format(("amzn1.oa2-cs.v1.",), _HEX, 20, 64),
    Format(("AIza",), _WORD, 20, 35, is_exact=True),
    Format(("ya29.",), _DOTTED, 16, 120),
    Format(("GOCSPX-",), _WORD, 16, 28),
    Format(("1//0",), _WORD, 30, 60),
    Format(("AccountKey=",), _BASE64, 12, 86),
    Format(("SharedAccessKey=", "SharedSecretKey="), _BASE64, 12, 43),
    Format(("+ASt", "+AMC", "+ABa", "ACDb", "APIM"), _BASE64, 7, 8, before=76),
    Format(("JQQJ99",), _ALNUM, 20, 26, before=52),
    Format(("AZDO",), _ALNUM, 4, 4, before=76),
    Format(("Q~",), "A-Za-z0-9_~.-", 28, 31, before=4),
    Format(("LTAI",), _ALNUM, 12, 20),
    Format(("dop_v1_", "doo_v1_", "dor_v1_"), _HEX, 16, 64, is_exact=True),
    Format(("HRKU-",), _WORD, 30, 60),
    Format(("v1.0-",), f"{_HEX}-", 100, 171),
    Format(("fo1_", "fm1a_", "fm1r_", "fm2_"), _BASE64, 30, 43),
    Format(("sbp_", "sb_secret_"), _WORD, 24, 36),
    Format(("tskey-",), _WORD, 16, 40),
    Format(("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), _ALNUM, 30, 36),
    Format(("pscale_tkn_", "pscale_oauth_", "pscale_pw_"), "A-Za-z0-9_=.-", 24, 32),
    Format(("dapi",), _HEX, 32, 32),
    Format(("pul-",), _HEX, 30, 40),
    Format((".atlasv1.",), "A-Za-z0-9_=-", 40, 60, before=14),
    Format(("hvs.", "hvb.", "hvr."), _WORD, 20, 90),
    Format(("ops_eyJ",), _BASE64, 40, 250),
    Format(("A3-",), "A-Z0-9-", 30, 33),
    Format(("AGE-SECRET-KEY-",), "A-Za-z0-9-", 16, 59),
    Format(("sha256~",), _WORD, 30, 43),
    Format(("tk-us-",), _WORD, 30, 48),
    Format(("sm_aat_", "sm_pat_", "sm_sat_"), _ALNUM, 16, 16),
    # Code, packages, builds.
    Format(("ghp_", "gho_", "ghu_"), _ALNUM, 16, 36, is_exact=True),
    Format(("ghs_", "ghr_"), _ALNUM, 16, 36),
    Format(("github_pat_",), "A-Za-z0-9_", 16, 82, is_exact=True),
    Format(
        (
            *("glpat-", "gldt-", "glcbt-", "glptt-", "glft-", "glffct-", "glimt-", "glagent-", "gloas-"),
            *("glrt-", "glrtr-", "glsoat-", "glwt-"),
        ),
        _DOTTED,
        12,
        20,
    ),
    Format(("GR1348941",), _WORD, 16, 20),
    Format(("npm_",), _ALNUM, 20, 36, is_exact=True),
    Format(("pypi-",), _WORD, 60, 160),
    Format(("rubygems_",), _HEX, 30, 48),
    Format(("oy2",), "a-z0-9", 43, 43),
    Format(("CLOJARS_", "clojars_"), _ALNUM, 40, 60),
    Format(("AKCp",), _ALNUM, 60, 69),
    Format(("cmVmd",), _ALNUM, 59, 59),
    Format(("dckr_pat_", "dckr_oat_"), _WORD, 20, 27),
    Format(("CCIPAT_",), f"{_ALNUM}_", 30, 63),
    Format(("bkua_",), _HEX, 30, 40),
    Format(("ATATT3", "ATCTT3", "ATBB"), _BASE64, 28, 32),
    Format(("API-",), _UPPER, 26, 26),
    Format(("sgp_",), f"{_ALNUM}_", 30, 40),
    Format(("pnu_",), _ALNUM, 30, 36),
    Format(("ico-",), _ALNUM, 32, 32),
    Format(("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), _DOTTED, 30, 43),
    Format(("glc_",), _BASE64, 32, 100),
    Format(("glsa_",), f"{_ALNUM}_", 24, 41),
    Format(("sntrys_",), _BASE64, 40, 200),
    Format(("sntryu_", "sntrya_"), _HEX, 30, 64),
    Format(("dt0c01.", "dt0s01.", "dt0s16."), _DOTTED, 24, 89),
    Format(("NRAK-", "NRII-"), _WORD, 20, 27),
    Format(("PMAK-",), f"{_HEX}-", 30, 59),
    Format(("phx_",), f"{_ALNUM}_", 30, 43),
    # Mail, chat, work.
    Format(("SG.",), _DOTTED, 40, 66, is_exact=True),
    Format(("xkeysib-", "xsmtpsib-"), _WORD, 30, 81),
    Format(("key-",), _HEX, 32, 32),
    Format(("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"), _WORD, 8, 50),
    Format(("xoxe.xoxb-", "xoxe.xoxp-"), _WORD, 8, 160),
    Format(("xapp-",), _WORD, 8, 60),
    Format(("hooks.slack.com/services/", "hooks.slack.com/workflows/"), "A-Za-z0-9+/", 20, 43),
    Format(("hooks.slack.com/triggers/",), "A-Za-z0-9+/", 20, 43),
    Format(("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"), "A-Za-z0-9_/-", 40, 80),
    Format((".webhook.office.com/webhookb2/",), "A-Za-z0-9_/@-", 40, 150),
    Format((":AA",), _WORD, 30, 33, before=10),
    Format(("ntn_",), _ALNUM, 30, 46),
    Format(("secret_",), _ALNUM, 43, 43),
    Format(("lin_api_", "lin_oauth_"), _ALNUM, 20, 40),
    Format(("figd_",), _WORD, 24, 40),
    Format(("fio-u-",), _BASE64, 40, 64),
    Format(("pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-"), f"{_HEX}-", 30, 36),
    Format(("CFPAT-",), _WORD, 30, 43),
    Format(("p8e-",), _HEX, 30, 32),
    Format(("rdme_",), "a-z0-9", 60, 70),
    # Money and shops.
    Format(
        ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
        _ALNUM,
        8,
        24,
    ),
    Format(("whsec_",), "A-Za-z0-9+/=", 16, 32),
    Format(("shpat_", "shpca_", "shppa_", "shpss_"), _HEX, 16, 32, is_exact=True),
    Format(("sq0atp-", "sq0csp-"), _WORD, 20, 22),
    Format(("EAAA",), _WORD, 40, 60),
    Format(("EAAC", "EAAM"), _ALNUM, 60, 100),
    Format(("EZAK", "EZTK"), _ALNUM, 40, 54),
    Format(("FLWSECK_TEST-", "FLWSECK-"), _WORD, 12, 34),
    Format(("duffel_test_", "duffel_live_"), "A-Za-z0-9_=-", 30, 43),
    Format(("shippo_live_", "shippo_test_"), _HEX, 30, 40),
    Format(("flb_live_",), _ALNUM, 20, 20),
    # Of any service, as a request has it.
    Format(("Bearer ",), "A-Za-z0-9._~+/=-", 20, 40),
    # A JSON Web Token, and one that was encoded again.
    Format(("eyJ",), _DOTTED, 8, 122),
    Format(("ZXlK",), _BASE64, 40, 80),
)
