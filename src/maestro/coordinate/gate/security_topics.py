"""Questions that decide on security by what they are about, however mildly they ask. Pure data.

Who may see what, where tokens live and how long, what is escaped, verified, encrypted or trusted: nobody needs a grave
verb for these. Each pattern looks at one sentence; one that is about texts, tests or looks decides nothing.
"""

from __future__ import annotations

from typing import Final

_PEOPLE: Final = (
    r"(?:users?|people|persons?|members?|staff|guests?|visitors?|customers?|clients?|merchants?|editors?|moderators?|students?|teachers?|patients?|doctors?|nurses?|employees?|contractors?|partners?|admins?|administrators?"
    r"|managers?|agents?|anyone|anybody|everyone|everybody|tenants?|sellers?|buyers?|authors?|reviewers?|operators?|interns?|accounts?|roles?|groups?|teams?|departments?|subscribers?|owners?|viewers?|participants?|players?|colleagues?|third parties|strangers?)"
)
_SEE: Final = r"(?:see|view|read|edit|access|approve|delete|download|invite|manage|change|create|export|call|refund|open|impersonate|publish|upload|write|query|modify|reach|cancel|remove|grant|revoke|administer)"
_OUTSIDERS: Final = r"(?:anonymous|any|all|every|other|guest|logged-?in|signed-?in|authenticated|unauthenticated|unverified|non-admin|external|former|free|trial|visiting|outside)"
_HELD: Final = r"(?:jwts?|(?:\w+[- ])?tokens?|session ids?|sessions?|credentials?|passwords?|passphrases?|secrets?|api keys?|(?:private|signing|encryption|master|ssh|access) keys?|certificates?|recovery codes?)(?! (?:fields?|inputs?|links?|forms?|buttons?|types?|models?|pages?|components?|resets?|class|bucket|counts?|limits?|budgets?|storage class|variables?))"
_LIFE: Final = r"(?:log-?ins?|sign-?ins?|sessions?|(?:\w+[- ])?tokens?|jwts?|(?:\w+ )?(?:reset|invite|invitation|magic|share|sharing|download|signed|presigned|verification|confirmation|activation|unsubscribe) (?:links?|urls?|codes?)|otps?|one-time codes?|passwords?|api keys?|certificates?|(?:\w+ )?cookies?|remember[- ]me)"

TOPICS: Final[tuple[str, ...]] = (
    # Who may do what.
    rf"\bwho (?:else )?(?:may|can|should|shall|must|is allowed|are allowed|gets?|will|has|have|is able) (?:be able |be allowed |have |get |to |permission |access )*(?:{_SEE}|access|in)\b",
    rf"\b(?:which|what) (?:[^\s|]+ ){{0,2}}?{_PEOPLE} (?:may|can|should|shall|must|are allowed|is allowed|get|gets|have|has|will) (?:be able |be allowed |have |get |to |access to )*(?:{_SEE}|access)\b",
    rf"\b(?:should|may|can|shall|must|do|does|will|let|allow|ok if) (?:[^\s|]+ ){{0,3}}?{_PEOPLE} (?:be allowed to|have access|get access|have permission|see each other|(?:be able to )?{_SEE} (?:other|others'|everyone's|everybody's|each other's|all (?:the )?(?:orders|invoices|records|files|data|projects|accounts)))\b",
    rf"\b(?:should|may|can|shall|must|do|does|will|let|allow) (?:only )?{_OUTSIDERS} (?:[^\s|]+ ){{0,2}}?{_PEOPLE} (?:be able to |still |also )?{_SEE}\b",
    rf"\bwhat (?:may|is|are) (?:[^\s|]+ ){{0,4}}?{_PEOPLE} (?:be )?(?:allowed to |able to )?(?:see|read|access|view|edit|do)\b",
    r"\b(?:how (?:strict|open|permissive|restrictive|tight|lax)|which|what)\b[^|]{0,40}\b(?:permissions?|access (?:rules?|rights?|levels?|control)|privileges|(?:oauth |api )?scopes?|visibility)\b[^|]{0,40}\b(?:be|for|get|gets|have|needs?|request)\b",
    rf"\b(?:default|initial|which|what|new) (?:[^\s|]+ )?roles?\b[^|]{{0,40}}\b(?:{_PEOPLE}|sign-?ups?|get|gets|have|has)\b",
    r"\b(?:should|shall|must|may|can|make|is|are|keep|leave|set)\b[^|]{0,50}\b(?:repo\w*|buckets?|share links?|profiles?|dashboards?|gists?|datasets?|registry|albums?|boards?|endpoints?|routes?|admin \w+|panel|uploads|docs site|forms?|api|metrics) (?:[^\s|]+ ){0,2}?(?:public(?:ly)?|private|open to|reachable|accessible|visible to|behind (?:a |the )?(?:log-?in|auth\w*|vpn|password))\b",
    r"\b(?:reachable|accessible|visible|exposed|available) (?:from|to|on) (?:the )?(?:outside|internet|public|lan|whole|everyone|anyone|all)\b|\brow[- ]level (?:security|permissions?|access|polic\w+)\b",
    # How long a login, a token or a link is good for, and where secrets live.
    rf"\b(?:how long|how soon|when|after how|how many (?:minutes|hours|days)|should|shall|must|let|do|does|make)\b[^|]{{0,60}}\b{_LIFE} [^|]{{0,40}}\b(?:expir\w*|last|lasts|(?:be |stay |remain )?valid|ttl|lifetime|live|time ?out|times out|logged in|signed in|rotat\w*|be rotated)\b",
    rf"\b{_LIFE} (?:never|do not|don't|does not|doesn't|won't) (?:times? ?out|expires?|run out)\b|\b(?:session|token|cookie|log-?in|link) (?:lifetimes?|timeouts?|durations?|expiry|expiration|ttl)\b",
    rf"\bwhere (?:do|should|shall|can|may|would|to|does|must|are|is)\b[^|]{{0,60}}\b{_HELD}\b",
    rf"\b(?:store|keep|put|hold|save|persist|cache|stash)\w* (?:[^\s|]+ ){{0,5}}?{_HELD} (?:[^\s|]+ ){{0,3}}?(?:in|on|as|inside|with|under)\b|\blocal ?storage\b(?=[^|]*\b(?:tokens?|jwts?|auth\w*|sessions?)\b)|\b(?:tokens?|jwts?|auth\w*|sessions?)\b[^|]{{0,80}}\b(?:local|session) ?storage\b",
    # What the browser is told to guard.
    r"(?<![\w/-])@?(?:csrf\w*|xsrf\w*|samesite|same-site|httponly|http-only|unsafe-(?:inline|eval)|hsts|x-frame-options|frame-ancestors|clickjacking|ssrf|open redirects?|allowed_hosts|access-control-\S+)(?![\w/-])|(?<![\w/-])(?:cors|csp|content[- ]security[- ]policy)(?![\w/-])(?=[^|]*\b(?:block|reject|fail|allow|add|relax|open|set|enable|disable|loosen|polic|origin|header|wildcard|strict)\w*)|\b(?:block|reject|allow|origin|relax)\w*\b[^|]{0,60}\b(?:cors|csp)\b",
    # What is rendered, run or parsed as it comes.
    rf"(?<![\w-])(?:dangerouslysetinnerhtml|v-html|innerhtml|outerhtml|mark_safe|html_safe|htmlsafe|bypasssecuritytrust\w*|autoescape|unescaped|unsaniti[sz]ed|raw html|ng-bind-html|set:html)(?![\w-])|\b(?:html|svgs?|rich text|markdown|scripts?|markup) (?:that comes |that came |coming |submitted |uploaded |sent |written )?(?:from|by) (?:the |our )?{_PEOPLE}\b|\bmark (?:it|them|this|the \S+) (?:as )?safe\b|\bsaniti[sz]\w+\b[^|]{{0,60}}\b(?:html|svg|input|markup|comments?|uploads?)\b",
    rf"\b(?:{_PEOPLE}) (?:can |may |will )?(?:upload|submit|post|send)\b[^|]*\|[^|]*\b(?:as (?:they|it) (?:are|is)|as-is|unchecked|directly)\b",
    r"(?<![\w-])(?:trust_remote_code|weights_only|allow_pickle|verify_ssl|ssl_verify|ssl verify|rejectunauthorized|insecureskipverify|check_hostname|cert_none|unsafe_load|unsafe_allow_html|allow_unsafe\w*|allow_dangerous\w*|shell true|yaml\.load|yaml\.unsafe\w*|verify false|nosec|noverify)(?![\w-])|\buntrusted\b|\b(?:un)?pickl\w+\b[^|]{0,60}\b(?:clients?|users?|remote|uploads?|uploaded|download\w*|network|sends?|requests?|cookies?)\b",
    r"\b(?:sql|quer(?:y|ies))\b[^|]{0,40}\b(?:string concatenation|concatenat\w+|string format\w*|f-?strings?|interpolat\w+)\b|\b(?:concatenat\w+|interpolat\w+)\b[^|]{0,40}\b(?:sql|search term|user input)\b|\beval\b[^|]{0,40}\b(?:user|input|request|expression from)\b",
    # What is verified, hashed and encrypted.
    r"\b(?:check|verify|validate|enforce|require)\w* (?:the |its |their |a |each |every )?(?:[^\s|]+ ){0,2}?(?:signatures?|certificates?|checksums?|hmac|issuer|audience|origins?)\b|\b(?:certificate|cert|signature|checksum|issuer|host key) (?:verification|validation|checks?|errors?)\b|\bcertificate_verify_failed\b",
    r"\b(?:bcrypt|argon2\w*|scrypt|pbkdf2)\b|\b(?:hash|sign|encrypt)\w*\b[^|]{0,60}\b(?:md5|sha-?\d+|hmac|aes\S*|rsa|hs256|rs256)\b|\bpasswords?\b[^|]{0,40}\b(?:md5|sha-?\d+|plain ?text|hash\w*)\b",
    r"\b(?:encrypt|encrypts|encrypted|encrypting|encryption|unencrypted|decrypt|cleartext|at rest)\b(?! (?:class|module|file name|icon))",
    r"\bpassword (?:length|rules?|polic(?:y|ies)|strength|requirements?|complexity|rotation)\b|\b(?:failed|wrong|bad) (?:log-?ins?|sign-?ins?|log-?in attempts?|password attempts?|passwords?)\b|\block (?:out|an? account|the account|accounts|them out)\b",
    r"\b(?:two[- ]factor|2fa|mfa|second factor|passkeys?|sso|saml|captcha)\b[^|]{0,60}\b(?:mandatory|required?|optional|enforced?|skip|off|for|or|needed|instead)\b",
    # What one agrees to, and who can connect.
    r"\b(?:accept|agree to|sign|click through)\w* (?:[^\s|]+ ){0,4}?(?:terms|licen[cs]e agreement|agreement|eula|contract|cla|nda|dpa)\b|\b(?:on|to) all interfaces\b|(?<![\d.])0\.0\.0\.0(?![\d.])",
    # Data of people.
    r"\b(?:pseudonymi[sz]|anonymi[sz]|de-?identif)\w*|\b(?:personal|patients?'?|participants?'?|subjects'|health|medical|biometric|identifying) (?:data|names?|records?|information|details|identifiers?|birth ?dates?|birthdays?|dates? of birth|addresses|diagnos\w+|e?-?mails?|phone numbers?|postcodes?|photos?|faces|voices?|scans?|genomes?|histor(?:y|ies))\b|\bconsent (?:forms?|of|from)\b|\bgdpr\b|\bhipaa\b",
    r"\b(?:log|print|store|dump|record|trace|include|including|keep)\w*\b[^|]{0,60}\b(?:authori[sz]ation|auth|cookie|bearer) (?:headers?|tokens?|values?)\b",
)  # fmt: skip
