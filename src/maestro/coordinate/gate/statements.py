"""What SQL, snippets of code and HTTP requests in a command line do. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate.gate import places, python_code
from maestro.coordinate.gate.deeds import Effect
from maestro.coordinate.gate.folding import fold_text

_READ: Final = Effect("read")
_CHANGE: Final = Effect("change")

CLIENTS: Final = frozenset(
    {"psql", "mysql", "mariadb", "sqlite3", "sqlite", "mongo", "mongosh", "sqlplus", "pgcli", "mycli",
     "litecli", "duckdb", "clickhouse-client", "clickhouse", "cqlsh", "usql", "sqlcmd", "trino", "presto",
     "snowsql", "questdb", "rqlite", "osqueryi", "dolt", "pgsql", "isql", "ysqlsh", "beeline", "impala-shell", "spark-sql", "hive", "pg", "sqlcl", "snow"}
)  # fmt: skip
_CHANGES_DATA: Final = re.compile(
    r"\s*(?:drop|truncate|alter|grant|revoke)\s+\w|\s*(?:delete\s+from|insert\s+into|update\s+\S+\s+set)\b",
    re.IGNORECASE,
)
_SQL_COMMENT: Final = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_SQL_READS: Final = re.compile(
    r"^(?:select|show|explain(?!\s+analy[sz]e\s+(?:delete|update|insert))|describe|desc|values|table|with|pragma\s+\w+(?:\(\w+\))?\s*$|\\(?:d\S*|l|dt|conninfo|timing|x|q|c|set|pset|echo|df|dn|du)|\.(?:tables|schema|indexes|databases|mode|headers|header|width|quit|exit|help|dump|show|dbinfo)|use\b|analyze\b)",
    re.IGNORECASE,
)
_SQL_TEXT: Final = re.compile(r"'(?:[^']|'')*'")
_PRINTS: Final = re.compile(r"\s*print(?:f)?\b[^;|`]*\b(?:if|unless)\s*/(?:[^/\\]|\\.)*/[a-z]*\s*;?\s*")
_SQL_SHOWS: Final = re.compile(
    r"\s*(?:show|desc|describe|explain(?!\s*\(?\s*analy[sz]e))\b(?!.*\binto\b)", re.IGNORECASE
)
_SQL_WRITES: Final = re.compile(
    r"\b(?:drop|truncate|delete\s+from|alter|insert\s+into|replace\s+into|update\s+\w|create|grant|revoke|merge\s+into|vacuum|reindex|rename|copy\s+\S+\s+(?:from|to)"
    r"|into\s+(?:outfile|dumpfile)|set\s+password|setval|nextval|dblink_exec|lo_unlink|pg_reload_conf|pg_(?:cancel|terminate)_backend|pg_read_file|lo_import|call|exec|attach|load_extension|\\!|\\copy|\.(?:shell|system|import|restore))\b|\\!",
    re.IGNORECASE,
)
_MONGO_READS: Final = re.compile(
    r"^\s*(?:db\.)?(?:\w+\.)?(?:find|findone|count|countdocuments|aggregate|stats|getcollectionnames|explain|getindexes|show|version|distinct|printjson)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_CODE_FLAGS: Final = {
    "-c",
    "-e",
    "--command",
    "--execute",
    "--eval",
    "-Q",
    "-q",
    "-cmd",
    "--query",
    "--sql",
    "--statement",
}

# How libraries for databases, in whatever language, call what writes or deletes many things at once.
_BULK_CHANGES: Final = (
    r"\.to_sql\(|\b(?:drop\s+(?:table|database|schema)|truncate\s+table|delete\s+from|alter\s+table|insert\s+into|update\s+\w+\s+set|flushall|flushdb)\b"
    r"|\.objects\b.*\.(?:delete|update|create|bulk_\w+|get_or_create|update_or_create|save)\(|\.query\(.*\)\..*\bdelete\(|\bsession\.(?:delete|commit|bulk_\w+|execute\(\s*(?:delete|update|insert))\b"
    r"|\b(?:drop_all|create_all|drop_database|drop_collection|drop_tables?|drop_schema|drop_index|delete_by_query|delete_many|delete_one|insert_many|update_many|replace_one|bulk_write|bulk_create|bulk_update|delete_objects?|delete_bucket|delete_table)\b"
    r"|\b(?:dropdatabase|dropcollection|dropindex|droptable|dropschema|deletemany|deleteone|updatemany|insertmany|findoneanddelete|executeraw\w*|queryrawunsafe|ensuredeleted|executedelete\w*|executeupdate\w*|removerange|deleteall\w*|deletebyid|automigrate|forcedelete|dbremovetable|dbwritetable|dbexecute|dbsendstatement|dbappendtable|indices\.delete)\b"
    r"|[.:](?:delete_all|destroy_all|destroy!?|update_all|insert_all!?|upsert_all|delete_by|destroy_by|delete!|drop|del|truncate|purge)\b\s*(?:\(|$|\}|;|\)|\s&|['\"])|find_each\(&:(?:destroy|delete)|repo\.(?:delete|update|insert)\w*|(?:->|::)(?:delete|truncate|forcedelete|drop\w*|update|insert|upsert)\(|sync\(\s*\{\s*force|\.unscoped\(\)|\.clear\(\)\s*;?\s*//\s*db"
)
_CODE: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), category, why)
    for pattern, category, why in (
        (
            r"\brmtree\b|\bremove_(?:tree|entry|dir|file)\w*\b|truncate(?:sync)?\(|\bdelete-tree\b|\bos\.remove\.all\b|\bremove_?all\(|\bfile delete\b|\.delete\(\)|deleterecursively|deletetree|\bos\.(?:remove|unlink|rmdir|removedirs)\b|\.unlink\(|\.rmdir\(|unlink(?:sync)?\s*\(|\brm(?:dir)?sync\b|fs(?:\.promises)?\.rm\b|rimraf|file\.delete|fileutils\.rm|\bunlink\b|remove_dir_all|send2trash|\bfile\.remove\b|\bunlink\(|\brm\(|file_delete\(|dir_delete\(|files\.delete|\bdeno\.remove|\.deletedir\(|\bdelete-directory\b|\bremove-item\b|\bclear-content\b|file\.rm",
            "file deletion",
            "its code deletes files",
        ),
        (
            r"clojure\.java\.shell|\(sh \"|\bos\.proc\b|\bos\.(?:system|popen|exec\w*|spawn\w*)\b|\bsubprocess\b|child_process|\bexecsync\b|\bspawnsync\b|\bsystem\s*\(|\bpopen\b|%x[\[{(]|`[^`]+`|shell_exec|\bpty\.spawn|proc_open|passthru|kernel\.exec|\bsystem2\s*\(|processbuilder|runtime\.exec|deno\.(?:run|command)|bun\.(?:spawn|\$)|:os\.cmd|system\.cmd\(",
            "unreadable",
            "its code runs other programs",
        ),
        (
            r"\beval\s*\(|\bexec\s*\(|__import__|importlib|compile\s*\(|getattr\s*\(\s*(?:os|__builtins__|sys)|marshal\.loads|pickle\.loads|codecs\.decode|b64decode|frombase64|atob\(|fromcharcode|chr\(\d+\)\s*\+|new function\(|vm\.runin",
            "unreadable",
            "its code runs code that is made up as it runs",
        ),
        (
            r"(?:['\"]https?://(?!localhost|127\.|0\.0\.0\.0|\[::1)|urllib(?!\.parse)|requests|httpx|http\.client|urlopen|fetch\(|axios|net\.connect|socket\.|smtplib|ftplib|paramiko|lwp::|net::http|open-uri)",
            "security decisions",
            "its code talks to other machines",
        ),
        (
            r"\biex\b|\binvoke-expression\b|\bmix\.install\b|\bsource\(\s*['\"]https?:|\beval\b.*\b(?:open|get|fetch|read|download)\b.*https?:|\bhub\.load\(|include\(\s*download|\bexec\(.*(?:urlopen|requests\.get)|install_github|importlib.*https?:|require\(['\"]https?:|import\(['\"]https?:",
            "network fetch-and-run",
            "its code runs what it fetches",
        ),
        (
            r"\b(?:boto3|botocore|google\.cloud|azure\.(?:mgmt|identity)|pulumi|openstack|digitalocean|kubernetes\.client|docker\.from_env|@aws-sdk|aws-sdk)\b.*?\b(?:run_instances|create\w*|delete\w*|put\w*|start\w*|terminate\w*|update\w*|purchase\w*|request\w*|launch\w*|invoke|scale\w*|apply)\b",
            "deployments",
            "its code changes what runs elsewhere",
        ),
        (r"\bfabric\b|\bpexpect\b|\bnetmiko\b", "deployments", "its code works on another machine"),
        (
            r"fine_tuning\.jobs\.create|\bbatches\.create\(|\bstripe\.|\bpaypal|\bbraintree|\btwilio|run_instances|purchase_",
            "spending",
            "its code spends money",
        ),
        (
            r"\bgit\.repo\(|\bfrom git import\b|\bimport git\b|\bpygit2\b|\bdulwich\b|isomorphic-git|simple-git|rugged::",
            "git operations",
            "its code works on the repository",
        ),
        (
            r"devtools::release|submit_cran|rsconnect::deploy|push_to_hub|upload_(?:file|folder|large_folder)\(|create_release|send_?mail|\bmail\(|send_message|chat_postmessage",
            "publishing",
            "its code sends something out to others",
        ),
        (_BULK_CHANGES, "database changes", "its code changes a database"),
        (
            r"\bkeyring\b|get_parameters?(?:_by_path)?\(|withdecryption|get_?secret|secretsmanager|access_secret_version|deno\.env|\.credentials\b|os\.environ(?!\.get\(['\"](?:home|path|user|pwd|lang|term|shell|ci|node_env|virtual_env|pythonpath)|\[['\"](?:home|path|user|pwd|virtual_env|pythonpath))|process\.env(?!\.(?:node_env|path|home|ci|port))|\benv\[|\$env:|getenv\(['\"]\w*(?:key|token|secret|pass)|\.env['\"]|id_rsa|\.ssh/|\.aws/",
            "API keys",
            "its code reads the environment or secrets",
        ),
        (
            r"os\.(?:chmod|chown|kill|setuid|reboot|symlink)\b|process\.kill|signal\.sigkill|ctypes|winreg|/etc/(?!os-release|hosts\b)",
            "system changes",
            "its code changes the system",
        ),
    )
)
_LITERAL: Final = re.compile(r"['\"]([^'\"]*)['\"]")
_WRITES_FILE: Final = re.compile(
    r"open\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"][^'\"]*[wax+]|writefilesync?\(\s*['\"]([^'\"]+)|write_text|path\(['\"]([^'\"]+)['\"]\)\.write",
    re.IGNORECASE,
)

_CHANGING_METHOD: Final = re.compile(r"^(?:post|put|patch|delete)$", re.IGNORECASE)
_LOCAL: Final = re.compile(
    r"(?:^|//|@)(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)(?:[:/?]|$)|^:\d+|\$\{?(?:BASE_URL|HOST|PORT)"
)
# Ports that data stores answer requests on, and what only they are asked for.
_STORE: Final = re.compile(
    r":(?:9200|9201|5984|8983|6333|8086|2379|8500|7474|8529|7700|8108|19530|8123)(?:/|$)|/_(?:delete_by_query|bulk|reindex|update_by_query|close|aliases|all)\b"
)
_STORE_READS: Final = re.compile(
    r"/_(?:search|count|cat|mapping|cluster|stats|msearch|explain|analyze|validate)\b|/api/v\d/query\b"
)
_DATA_FLAGS: Final = frozenset(
    {"-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "-F", "--form", "-T",
     "--upload-file"}
)  # fmt: skip
_OUTPUT_FLAGS: Final = frozenset({"-o", "--output", "-O", "--output-document"})


def changes_data(line: str) -> bool:
    """Whether a line is a statement of SQL that changes something."""
    return bool(_CHANGES_DATA.match(line))


def sql_effects(text: str) -> list[Effect]:
    """What these statements do to a database."""
    bare = _SQL_COMMENT.sub(" ", fold_text(_SQL_COMMENT.sub(" ", text)))
    bare = _SQL_TEXT.sub("''", bare)
    bare = ";".join(one for one in bare.split(";") if not _SQL_SHOWS.match(one)) or "select"
    if _SQL_WRITES.search(bare) or re.search(r"/\*!|[$](?:out|merge)\b", text):
        return [Effect("sure", "database changes", "its SQL changes the database")]
    statements = [statement.strip() for statement in bare.split(";") if statement.strip()]
    if statements and all(
        _SQL_READS.match(statement) or _MONGO_READS.match(statement) for statement in statements
    ):
        return [_READ]
    return [Effect("sure", "database changes", "its SQL is not one that only reads")]


def client_effects(name: str, words: list[str], stdin: str) -> list[Effect]:
    """A database's own command line."""
    if ":memory:" in words and not any(
        re.match(r"\s*\.(?:shell|system|import|load|restore|save|backup|output|once)", word) for word in words
    ):
        return [_READ]
    given = [
        words[at + 1]
        for at, word in enumerate(words[:-1])
        if word in _CODE_FLAGS or re.fullmatch(r"-[A-Za-z]+[ce]", word)
    ]
    given += [
        word.split("=", 1)[1]
        for word in words
        if re.match(r"--(?:command|execute|eval|query|sql|statement)=", word)
    ]
    given += [word[2:] for word in words if re.match(r"-[ce]\S+", word) and name not in {"sqlite3", "duckdb"}]
    if name in {"sqlite3", "sqlite", "duckdb"}:
        plain = [word for word in words if not word.startswith("-") and word not in given]
        given += plain[1:]
    if stdin:
        given.append(stdin)
    if any(word in {"-f", "--file"} or word.startswith("--file=") for word in words):
        return [Effect("sure", "database changes", "it runs a file of SQL")]
    if not given and any(word in {"-l", "--list", "--version", "--help", "-V"} for word in words):
        return [_READ]
    if not given:
        return [Effect("sure", "database changes", "it opens a database")]
    return [what for text in given for what in sql_effects(text)]


def django_effects(words: list[str]) -> list[Effect]:
    """`manage.py` and what it is told."""
    command = words[0] if words else ""
    if (command == "migrate" and "--plan" in words) or command in {"check", "showmigrations", "sqlmigrate"}:
        return [_READ]
    if command in {
        "migrate",
        "flush",
        "loaddata",
        "dbshell",
        "sqlflush",
        "reset_db",
        "delete",
        "clear_cache",
        "remove_stale_contenttypes",
        "clearsessions",
        "dumpdata",
    }:
        return [Effect("sure", "database changes", "manage.py changes the database")]
    if command in {"createsuperuser", "changepassword"}:
        return [Effect("sure", "security decisions", "manage.py changes who may do what")]
    if command in {"shell", "shell_plus"}:
        return (
            [Effect("sure", "database changes", "it opens a shell on the database")]
            if len(words) > 1
            else [Effect("wary", "database changes", "it opens a shell on the database")]
        )
    if command == "makemigrations":
        return [_CHANGE]
    return [_CHANGE]


def query_effects(words: list[str]) -> list[Effect]:
    """`bq query` and its like: the statement is the last operand."""
    if any(re.match(r"--(?:replace|destination_table|append_table)\b", word) for word in words):
        return [Effect("sure", "database changes", "it writes a table")]
    given = [word for word in words if not word.startswith("-")]
    return sql_effects(given[-1]) if given else [Effect("sure", "database changes", "it runs SQL")]


def code_effects(code: str, language: str = "") -> list[Effect]:
    """What a snippet of code does, as far as its words tell."""
    plain = fold_text(python_code.deeds_of(code) if language.startswith(("python", "pypy")) else code)
    if language in {"perl", "ruby"} and _PRINTS.fullmatch(code):
        return [_CHANGE]
    if language == "tclsh" and re.search(r"\bexec\b", plain):
        return [Effect("sure", "unreadable", "its code runs other programs")]
    if language in {"R", "Rscript"}:
        plain = re.sub(r"(?<![\w.:])rm\(", "(", plain)  # of a variable
    found: list[Effect] = [
        Effect("sure", category, why) for pattern, category, why in _CODE if pattern.search(plain)
    ]
    named = (places.reads(text) for text in _LITERAL.findall(code))
    found += [Effect("sure", place.category, place.why) for place in named if place]
    for match in _WRITES_FILE.finditer(plain):
        path = next(filter(None, match.groups()), "")
        found += [
            Effect("sure" if place.is_sure else "wary", place.category, place.why)
            for place in places.writes(path)
        ]
    return found or [_CHANGE]


def request_effects(name: str, words: tuple[str, ...]) -> list[Effect]:
    """A request that changes something elsewhere, sends something, or is kept in a file."""
    found: list[Effect] = []
    is_local = any(_LOCAL.search(word) for word in words) and not any(
        re.search(r"https?://(?!localhost|127\.|\[::1|0\.0\.0\.0)", w) for w in words
    )
    method = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-X", "--request"}), "")
    method = method or next((word[2:] for word in words if re.match(r"-X[A-Za-z]", word)), "")
    method = method or next(
        (word.split("=")[1] for word in words if word.startswith(("--request=", "--method="))), ""
    )
    if name in {"http", "https", "xh"}:
        method = method or next((word for word in words if _CHANGING_METHOD.match(word)), "")
    given = [
        words[at + 1]
        for at, word in enumerate(words[:-1])
        if word in _DATA_FLAGS or re.fullmatch(r"-[a-zA-Z]*[dFT]", word)
    ]
    given += [
        word.split("=", 1)[1]
        for word in words
        if re.match(r"--(?:data[\w-]*|json|form|post-data|post-file|upload-file)=", word)
    ]
    sends_file = any(re.search(r"(?:^|=|<)@|^<", text) for text in given) or any(
        w in {"-T", "--upload-file"} or w.startswith(("--post-file", "--upload-file")) for w in words
    )
    if sends_file and not is_local:
        found.append(Effect("sure", "security decisions", "it sends a file to another machine"))
    elif (given or _CHANGING_METHOD.match(method)) and not is_local:
        found.append(Effect("sure", "security decisions", "it sends data to another machine"))
    elif (given or _CHANGING_METHOD.match(method)) and any(
        _STORE.search(word) and not _STORE_READS.search(word) for word in words
    ):
        found.append(Effect("sure", "database changes", "it changes a data store by a request"))
    elif _CHANGING_METHOD.match(method) and method.casefold() == "delete":
        found.append(Effect("wary", "database changes", "it deletes something by a request"))
    for at, word in enumerate(words[:-1]):
        if (word in _OUTPUT_FLAGS or re.fullmatch(r"-\w*[oO]", word)) and not words[at + 1].startswith("-"):
            found += [
                Effect("sure" if place.is_sure else "wary", place.category, place.why)
                for place in places.writes(words[at + 1])
            ]
    if any(re.search(r"(?i)authorization:|api-?key:|\bcookie:", word) for word in words) and not is_local:
        found.append(Effect("wary", "API keys", "it sends a secret with the request"))
    return found
