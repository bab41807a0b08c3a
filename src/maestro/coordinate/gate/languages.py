# ruff: noqa: RUF001 - other languages have letters of their own
"""The built-in categories in other languages than English, as far as workers write them. Pure data.

Each is a verb and an object in one sentence, in any order, on text that keeps its letters (`folding.keep_letters`).
Coarser than English, and without negation: whoever writes so gets a human sooner.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_DELETE: Final = (
    r"\blösch\w*|\bentfern\w*|\bleeren\b|\bich leere\b|\bweg(?:werf|schmeiss)\w*|\bwegwerfen\b|\bvernicht\w*|\büberschreib\w*|\bverwerf\w*|\bsupprim\w*|\bpurger\b|\bpurgar\b|\bréinitialis\w*|\bzurücksetz\w*|\beffac\w*|\bvider\b|\b(?:je|on) vide\b|\bécras\w*|\bdétrui\w*|\benlev\w*|\bborr(?:ar|o|e|a|en|amos|ado)\b"
    r"|\belimin(?:ar|o|a|are|i|amos|ado|e)\b|\bvaci(?:ar|o)\b|\bsobrescrib\w*|\bdestruir\b|\bapag(?:ar|o|ue)\b|\bexclu(?:ir|o|a)\b|\bremov(?:er|o|a)\b|\bcancell(?:are|o|a|i)\b|\brimuov\w*|\bsvuot\w*|\bverwijder\w*|\bweggooi\w*|\bgooi\w*|\bwissen\b|\busu[nw]\w*|\bskasow\w*|\bsmaz\w*|\bodstran\w*|\bradera\w*|\bslett?e?\b|\bfjern\w*"
    r"|удал\w*|стереть|сотр\w*|очист\w*|сброс\w*|перезапис\w*|видал\w*|删除|刪除|清空|清除|移除|覆盖|销毁|删掉|削除|消去|消し|消す|破棄|上書き|삭제|지우|제거|\bsil(?:mek|eyim)\b|حذف|مسح"
)
_FILES: Final = (
    r"\bdatei\w*|ordner\w*|verzeichnis\w*|sicherung\w*|\bbackups?\b|\bdaten\b|\bfichiers?\b|\bdossiers?\b|répertoires?|sauvegardes?|\barchivos?\b|ficheros?|carpetas?|directorios?|copias? de seguridad|arquivos?|\bpastas?\b|cartell\w*"
    r"|bestand\w*|\bmappen?\b|\bplik\w*|файл\w*|папк\w*|каталог\w*|директори\w*|бэкап\w*|резервн\w*|文件|文件夹|檔案|目录|备份|日志|数据|ファイル|フォルダ|ディレクトリ|バックアップ|ログ|データ|파일|폴더|디렉터리|백업|로그|ملف|مجلد|\bnode_modules\b|\S+/"
)
# What a program or a text is made of: deleting such a thing is an edit, as in English.
_OF_CODE: Final = (
    r"import\w*|funktion\w*|variable\w*|kommentar\w*|\w*zeilen?\b|methode\w*|klassen?\b|parameter\w*|argument\w*|tests?\b|knopf|knöpfe|buttons?\b|überschrift\w*|absatz|absätze|satz\b|wort\b|wörter|leerzeichen|kommas?\b|typ(?:en)?\b|konstante\w*|abhängigkeit\w*|warnung\w*|felder\b|feld\b|eigenschaft\w*|aufrufe?\b|schleife\w*|bedingung\w*|klammer\w*|komponente\w*|stile?\b|regeln?\b|menü\w*|abschnitt\w*|beispiel\w*"
    r"|fonctions?\b|commentaires?\b|lignes?\b|méthodes?\b|classes?\b|paramètres?\b|boutons?\b|titres?\b|paragraphes?\b|mots?\b(?! de passe)|espaces?\b|virgules?\b|types?\b|dépendances?\b|avertissements?\b|champs?\b|propriétés?\b|appels?\b|boucles?\b|conditions?\b|composants?\b|styles?\b|règles?\b|icônes?\b|menus?\b|sections?\b|exemples?\b"
    r"|func(?:ión|iones|tie\w*)|función|comentarios?\b|líneas?\b|métodos?\b|clases?\b|parámetros?\b|pruebas?\b|botón|botones|títulos?\b|párrafos?\b|espacios?\b|tipos?\b|dependencias?\b|advertencias?\b|campos?\b|propiedad\w*|llamadas?\b|componentes?\b|estilos?\b|reglas?\b|iconos?\b|sección|ejemplos?\b|importaci\w*"
    r"|funzion\w*|variabil\w*|commenti?o?\b|righ[ae]\b|metod[oi]\b|classi?\b|parametr\w*|pulsant\w*|funç\w*|variáve\w*|comentários?\b|linhas?\b|parâmetro\w*|regels?\b|variabele\w*|opmerking\w*|funkcj\w*|zmienn\w*|komentarz\w*|lini[aęe]\w*|klas[aęy]\w*"
    r"|функци\w*|переменн\w*|комментари\w*|строк\w*|метод\w*|класс\w*|импорт\w*|тест\w*|参数|函数|变量|注释|空行|方法|导入|测试|按钮|组件|样式|空格|逗号|字段|関数|変数|コメント|メソッド|クラス|引数|インポート|テスト|ボタン|空白|スペース|コンポーネント|함수|변수|주석|메서드|클래스|테스트|버튼"
)
# English words that other languages took over, and words that show that a sentence is of another language.
_OTHER_WORDS: Final = r"\b(?:soll|sollen|ich|darf|wir|jetzt|den|dem|je|nous|dois|faut|faccio|facciamo|fare|posso|faço|fazer|fazemos|vou|posso|hago|hacer|hacemos|puedo|debo|zal|ik|moet|czy|mam|zrobić|robię|jeg|skal|ska|jag|можно|мне)\b"
_SENT: Final = r"\b(?:schick|send|verschick|versend)\w*|\benvo(?:ie|yer|yons|yé)\b|\benv(?:ío|iar|iamos|io|ia|ie)\b|\binvi(?:o|are|amo)\b|\b(?:ver)?stuur\w*|\bwysł\w*|\bwyśl\w*|отправ\w*|разосл\w*|发送|寄给|送信|보내"
_OTHERS: Final = r"\be?-?mails?\b|kunden|nutzer\w*|newsletter|nachricht\w*|courriels?|clients?\b|messages?\b|utilisateurs|correos?|clientes|mensajes?|boletín|usuarios|clienti|messaggi\w*|utenti|mensage\w*|klanten|gebruikers|klient\w*|письм\w*|клиент\w*|пользовател\w*|рассылк\w*|邮件|客户|用户|メール|顧客|이메일|고객"
_GIT_THINGS: Final = r"\bbranch\w*|\bbranche\b|\bdépôt\b|\bcommits?\b|\bchangements\b|\bmodifications\b|\bdistant\b|\bremote\b|\bmain\b|\bmaster\b|\borigin\b|\bgit\w*|\bcorrectif\b|\bcambios\b|\brama\b|\brepositori\w*|\brepository\b|\bremoto\b|\bramo\b|\balterações\b|\bmudanças\b|\bmodifiche\b|\bzmiany\b|\brepozytorium\b|\bgałą\w*|\bzweig\w*|ветк\w*|репозитори\w*|изменени\w*"
_TABLES: Final = r"datenbank\w*|\btabellen?\b|datensätze|bases? de données|\btables?\b|bases? de datos|\btablas?\b|registros?|banco de dados|tabelas?|\bdatabase\b|баз[ауыеой]\w*|таблиц\w*|запис[иьей]\w*|数据库|資料庫|数据表|订单表|用户表|表|记录|データベース|テーブル|レコード|데이터베이스|테이블|레코드|قاعدة"
_RUN: Final = r"ausführ\w*|einspiel\w*|migrier\w*|exécut\w*|\blancer\b|appliqu\w*|ejecut\w*|aplicar|executar|eseguir\w*|выполн\w*|примен\w*|запуст\w*|执行|运行|應用|应用|実行|適用|실행|적용"
_MIGRATIONS: Final = (
    r"migration\w*|migracion\w*|migraç\w*|migrazion\w*|миграц\w*|迁移|遷移|マイグレーション|마이그레이션"
)
_OFF: Final = r"deaktivier\w*|abschalt\w*|ausschalt\w*|umgeh\w*|désactiv\w*|contourn\w*|desactiv\w*|desativ\w*|disattiv\w*|отключ\w*|выключ\w*|обойти|禁用|关闭|跳过|绕过|無効|オフ|スキップ|비활성|끄"
_GUARDS: Final = r"\bauth\w*|anmeldung|sicherheit\w*|sécurité|seguridad|segurança|sicurezza|firewall|zertifikat\w*|certificat\w*|certificado\w*|verschlüsselung|\bssl\b|\btls\b|\bcsrf\b|проверк\w*|безопасност\w*|аутентификац\w*|验证|认证|安全|防火墙|证书|加密|認証|検証|セキュリティ|証明書|인증|보안"


def _both(verbs: str, objects: str) -> str:
    return rf"(?:^|(?<=[|]))(?=[^|]*(?:{verbs}))(?=[^|]*(?:{objects}))[^|]*"


def _unless(verbs: str, harmless: str) -> str:
    return rf"(?:^|(?<=[|]))(?=[^|]*(?:{verbs}))(?![^|]*(?:{harmless}))[^|]*"


_SAID: Final[dict[str, tuple[str, ...]]] = {
    "file deletion": (_both(_DELETE, _FILES), _unless(_DELETE, _OF_CODE)),
    "database changes": (_both(rf"{_DELETE}|\bänder\w*|modifi\w+r\b|改|変更", _TABLES), _both(_RUN, _MIGRATIONS)),
    "deployments": (
        _both(_OTHER_WORDS, r"\b(?:deploy|deployment|release|rollback|rollout|hotfix)\b"),
        r"\bspiel\w* [^|]*\b(?:auf|ein)\b[^|]*(?:server|produktion|system)|\blive (?:schalt|stell|geh|nehm|zet)\w*|\bfreischalt\w*|\bdéplo(?:yons|yez|yé)\b|\bme(?:ts|ttre|ttons) en (?:prod\w*|ligne|service)|\bdespleg\w+|\bpon(?:go|er|emos) en (?:producción|marcha|línea)|\bcolocar em produção|\bimplant(?:o|amos)\b|\brilasci\w*|\bmettere in produzione|\buitrol\w*|\buitbreng\w*|\bwdroż\w*|\bwdraż\w*|\bnasad(?:it|ím)\b",
        r"\bdeploy(?:en|e|ar|are)\b|ausroll\w*|\bausliefer\w*|\bdéplo(?:yer|ie|iement)\w*|\bdesplieg\w*|\bdesplegar\b|\bimplantar\b|\bdistribuire\b|развер\w*|деплой\w*|задеплой\w*|выкат\w*|部署|上线|发布到|デプロイ|本番|リリースし|배포|生产环境|生产",
        r"\b(?:in|en|em|na) (?:produktion|production|producción|produção|produzione|prod)\b",
    ),
    "git operations": (
        _both(_OTHER_WORDS, r"\b(?:push|commit|merge|rebase|force-push|pull request|cherry-pick|stash)\b"),
        _both(r"\bpouss(?:e|er|es|ez|ons|é|ée)\b|\bfusionn(?:e|er|ons|é)\b|\bsub(?:o|ir|e|imos)\b|\bempuj\w+|\bfusion(?:o|ar|amos)\b|\benvi(?:o|ar)\b|\bmescl(?:o|ar)\b|\bunisc\w*|\bunire\b|\bcaric(?:o|are)\b|\bwypchn\w*|\bwypych\w*|\bscal(?:ić|am)\b|\bhochlad\w*|\bzusammenführ\w*|\bsamenvoeg\w*|отправ\w*|слить|влить|залить", _GIT_THINGS),
        r"\b(?:committen|pushen|mergen|rebasen|commiter|commité|committear|commitear|pusher|merger|mergear|pushear|zusammenführen|fusionner|fusionar)\b|\bpousser\b|\bsubir (?:los )?(?:cambios|commits)\b|запуш\w*|пушить|закоммит\w*|коммит\w*|смерж\w*|слить|推送|提交|合并|強制推送|变基|プッシュ|コミット|マージ|リベース|푸시|커밋|병합",
    ),
    "destructive git operations": (r"强制推送|強制プッシュ|強制推送|\bpousser de force\b|\bforzar (?:el )?push\b|принудительн\w* \S*пуш",),
    "security decisions": (_both(_OFF, _GUARDS), r"öffentlich zugänglich|accessible au public|hacer público|публичн\w* доступ|公开访问|公開する|パブリック|administratorrechte|droits d'administrateur|permisos de administrador|права администратора|管理员权限|管理者権限|root-rechte"),
    "API keys": (
        r"api[- ]?schlüssel|passw[oö]rt\w*|kennw[oö]rt\w*|zugangsdaten|\bgeheimnis\w*|clés? (?:d'|d’)?api|clés? privées?|mots? de passe|identifiants de connexion|contraseñas?|claves? (?:de )?api|claves? privadas?|credenciales|credenciais|\bsenhas?\b|chiav[ei] api|парол\w*|api[- ]?ключ\w*|ключ\w* api|секретн\w* ключ\w*|учётн\w* данн\w*|密钥|密码|口令|凭证|令牌|パスワード|apiキー|秘密鍵|認証情報|비밀번호|api ?키",
    ),
    "spending": (r"\bkaufen\b|\bbezahl\w*|\babonnier\w*|kostenpflichtig\w*|\bachet(?:er|é|e)\b|\bpayer (?:le|la|les|pour|l')|\bpayante?\b|s'abonner|\bcomprar\b|\bpagar\b|de pago\b|suscrib\w*|\bacquistare\b|купить|оплат\w*|платн\w*|购买|付费|支付|購入|支払|有料|구매|결제|유료",),
    "publishing": (_both(_SENT, _OTHERS), r"\bopublik\w*|\bpubbli(?:co|chiamo)\b|\bpublions\b|veröffentlich\w*|\bpublier\b|\bpublicar\b|\bpubliqu?e\b|\bpubblicare\b|опублик\w*|发布|發佈|公開しますか|リリース|게시|출시"),
    "network fetch-and-run": (_both(r"herunterlad\w*|télécharg\w*|descarg\w*|baixar|scaric\w*|скача\w*|загруз\w*|下载|下載|ダウンロード|다운로드", rf"{_RUN}|installier\w*|installer|instal\w+|установ\w*|安装|インストール|설치"),),
    "system changes": (
        r"\bneu ?start\w* (?:\S+ ){0,2}(?:server|rechner|dienst|maschine)|\bredémarrer (?:le|la) (?:serveur|machine|service)|\breiniciar (?:el|la) (?:servidor|máquina|servicio)|перезагруз\w*|重启服务器|重启|再起動|재부팅|systemweit|prozess\w* beenden|tuer le processus|matar el proceso|убить процесс|杀掉?进程|终止进程|プロセスを(?:終了|強制)",
    ),
}  # fmt: skip


@cache
def other_languages() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    """Categories, and how they are said elsewhere."""
    return tuple((name, tuple(map(re.compile, patterns))) for name, patterns in _SAID.items())
