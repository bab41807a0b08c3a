"""Programs that only read, with every option that is known to be harmless, as data. Pure.

A line is `program subcommand: flags; options with a value; operands`. Single letters stand together behind one dash and
may be written so; all else is one option. What is not here is not proven, however harmless it is.

Operands are `paths` (files and folders of the project), `pattern` (what is searched for, then paths), `revisions` (of
git, then paths), `words` (anything: they are only printed or compared), `one` (at most one path), `folder`, `listed` (names of
what is listed), `lines` (of sed: which lines), `filter` (of jq), `format` (of date), `find`, `version`
(nothing but the option that asks for it), `none`.
"""

from __future__ import annotations

from typing import Final

READ_ONLY: Final = """
ls: -1AaBbCdFfGghHiklLmnNopqQrRsStuUvxX --all --almost-all --human-readable --recursive --reverse --directory --classify --inode --size --color --group-directories-first; -I --ignore --sort --time --color --time-style; paths
cat: -AbeEnstTuv --number --number-nonblank --show-all --squeeze-blank --show-ends --show-tabs; ; paths
head: -qv --quiet --verbose; -nc --lines --bytes; paths
tail: -qv --quiet --verbose; -nc --lines --bytes; paths
wc: -clmLw --lines --words --bytes --chars --max-line-length; ; paths
nl: ; -bvwsni; paths
tac: ; ; paths
rev: ; ; paths
od: -abcdfhilosxv; -ANjtw; paths
xxd: -bceEipuv; -clgs; one
hexdump: -bcCdovx; -ns; paths
strings: -a; -nt; paths
file: -bhiLk --brief --mime --mime-type --mime-encoding; ; paths
stat: -fLt --dereference --terse; -c --format --printf; paths
du: -abchklmsSx --all --summarize --human-readable --total --apparent-size; -d --max-depth --exclude; paths
df: -ahHiklmPT --human-readable; -t; paths
tree: -aACdfFhilnNprsStuv --dirsfirst --du --gitignore --noreport --prune; -LIP --filelimit; paths
pwd: -LP; ; none
realpath: -emqsz --canonicalize-missing; ; paths
readlink: -efmnqsvz; ; paths
basename: -az; -s --suffix; words
dirname: -z; ; words
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum b2sum: -btz --tag; ; paths
diff: -abBdeEiNnqrstTuwyZ --brief --unified --recursive --ignore-all-space --ignore-space-change --ignore-blank-lines --side-by-side --color --suppress-common-lines --strip-trailing-cr --no-color; -UCWxIL --unified --label --color --width --exclude; paths
cmp: -bls; -n; paths
comm: -123; ; paths
sort: -bcdfghiMmnrRsuVz --numeric-sort --reverse --unique --human-numeric-sort --version-sort --ignore-case --general-numeric-sort --check; -kt --key --field-separator; paths
uniq: -cdDiuz --count --repeated --unique --ignore-case; -fsw; one
cut: -szn --complement --only-delimited; -bcdf --delimiter --fields --bytes --characters --output-delimiter; paths
paste: -sz; -d; paths
join: -i; -12aejotv; paths
column: -ntx --table --json; -cNosHR; paths
fold: -bs; -w; paths
tr: -cCdst --delete --complement --squeeze-repeats; ; words
expand unexpand: -ai; -t; paths
seq: -w; -sf; words
expr: ; ; words
echo: -neE; ; words
printf: ; ; words
true false: ; ; words
sleep: ; ; words
date: -Ru --utc --iso-8601 --rfc-email; --iso-8601; format
uname: -amnoprsv --all; ; none
whoami nproc arch tty uptime hostname: ; ; none
id: -gGnru; ; none
free: -bghkmtw; ; none
which: -a; ; words
type: -aptP; ; words
locale: -a; ; none
lscpu: -ae; ; none
grep egrep fgrep: -acEFGhHiIlLnoqrRsvVwxyPTzZ --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match --only-matching --quiet --no-messages --line-number --with-filename --no-filename --recursive --null --color --text --no-ignore-case; -ABCm --after-context --before-context --context --max-count --include --exclude --exclude-dir --color --colour; pattern
rg: -acFHhIilLNnopPqSsUVvwx0 --case-sensitive --count --count-matches --files-with-matches --files-without-match --fixed-strings --heading --no-heading --ignore-case --invert-match --line-number --no-line-number --line-regexp --multiline --no-filename --with-filename --only-matching --pcre2 --pretty --quiet --smart-case --stats --trim --vimgrep --word-regexp --json --no-messages --null --type-list --column --no-column --crlf --multiline-dotall --passthru --debug; -ABCgmMtTjr --after-context --before-context --context --glob --iglob --max-count --max-columns --type --type-not --threads --color --colors --sort --sortr --max-depth --max-filesize --replace --type-add --context-separator; pattern
find: -follow -daystart -depth -empty -readable -writable -executable -not ! ( ) -a -o -and -or -print -print0 -ls -prune -true -false -xdev -mount -nogroup -nouser; -name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -links -newermt; find
fd fdfind: -acdHgiLlpsu0 --absolute-path --case-sensitive --fixed-strings --follow --full-path --glob --ignore-case --list-details --print0 --show-errors; -etdSE --extension --type --max-depth --min-depth --exact-depth --size --exclude --changed-within --changed-before --color --max-results; pattern
sed: -nrE --quiet --silent --regexp-extended; ; lines
jq: -acCejMnrRsS --compact-output --raw-output --sort-keys --slurp --exit-status --monochrome-output --color-output --null-input --tab; --indent; filter
cd: ; ; folder
git status: -bsuvz --short --branch --porcelain --long --verbose --ignored --show-stash --no-renames --no-ahead-behind --untracked-files; --porcelain --untracked-files --ignored -u; paths
git diff: -abBCDMpRuwz --cached --staged --stat --shortstat --numstat --dirstat --name-only --name-status --check --summary --raw --patch --no-patch --color --no-color --word-diff --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --minimal --patience --histogram --full-index --exit-code --quiet --no-renames --find-renames --find-copies --merge-base --compact-summary --no-ext-diff --no-textconv --function-context --text --relative; -USGl --unified --stat --diff-filter --diff-algorithm --color --word-diff --inter-hunk-context --pickaxe-regex --ignore-submodules --submodule -M; revisions
git log: -abBCcDgimMpRsuwz --oneline --graph --all --stat --shortstat --numstat --name-only --name-status --patch --no-patch --merges --no-merges --first-parent --reverse --follow --decorate --no-decorate --abbrev-commit --no-abbrev-commit --summary --color --no-color --date-order --topo-order --author-date-order --branches --tags --remotes --left-right --cherry-pick --cherry-mark --cherry --full-history --simplify-merges --walk-reflogs --source --no-renames --no-ext-diff --no-textconv --relative-date --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --all-match --compact-summary --boundary; -nUSGL --max-count --skip --since --until --after --before --author --committer --grep --format --pretty --date --decorate --diff-filter --abbrev --stat --max-parents --min-parents --branches --tags --remotes --color --diff-merges -M; revisions
git show: -abBCcMpRsuwz --oneline --stat --shortstat --numstat --name-only --name-status --patch --no-patch --summary --color --no-color --abbrev-commit --no-abbrev-commit --word-diff --no-renames --no-ext-diff --no-textconv --compact-summary --first-parent; -US --format --pretty --date --diff-filter --abbrev --stat --color --unified; revisions
git blame: -bcefklnpstw --porcelain --line-porcelain --show-email --show-name --show-number; -LMCS --since --abbrev --date --ignore-rev; revisions
git annotate: -bcefklnpstw; -L; revisions
git grep: -acEFGhHiIlLnPopqrvwWz --cached --untracked --extended-regexp --fixed-strings --perl-regexp --ignore-case --word-regexp --invert-match --count --files-with-matches --name-only --files-without-match --line-number --only-matching --heading --break --column --show-function --function-context --full-name --quiet --and --or --not --all-match --color --no-color; -ABCm --max-depth --threads --context --max-count; pattern
git ls-files: -cdikmostuvz --cached --deleted --modified --others --ignored --stage --exclude-standard --full-name --error-unmatch --eol --abbrev --killed --unmerged; -x --exclude --abbrev --with-tree; paths
git ls-tree: -drtlz --long --name-only --name-status --full-name --full-tree --object-only; --format --abbrev; revisions
git rev-parse: -q --verify --quiet --short --abbrev-ref --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --is-inside-work-tree --is-bare-repository --is-inside-git-dir --absolute-git-dir --git-common-dir --all --branches --tags --show-superproject-working-tree; --short --abbrev-ref --default; revisions
git rev-list: -n --all --count --reverse --merges --no-merges --first-parent --oneline --left-right --branches --tags; -n --max-count --since --until --author --grep --skip; revisions
git merge-base: -a --all --is-ancestor --fork-point --octopus; ; revisions
git describe: --tags --all --always --dirty --long --exact-match --first-parent --contains; --abbrev --match --exclude --candidates --dirty; revisions
git shortlog: -censw --numbered --summary --email; --since --until --group; revisions
git name-rev: --tags --name-only --always; ; revisions
git cat-file: -petsp; ; revisions
git count-objects: -vH; ; none
git diff-tree: -crptsuz --no-commit-id --name-only --name-status --stat --root; --diff-filter; revisions
git for-each-ref: ; --format --sort --count --contains --merged --points-at; words
git show-ref: -dqs --heads --tags --head; ; words
git reflog: ; -n; none
git branch: -ailqrv --list --all --remotes --verbose --show-current --no-color --color; --sort --format --contains --no-contains --merged --no-merged --points-at; listed
git tag: -lin --list --no-color --column; --sort --format --contains --merged --no-merged --points-at -n; listed
git remote: -v --verbose; ; none
git stash list: ; --format; none
git worktree list: -v --porcelain; ; none
git submodule status: ; ; paths
git check-ignore: -vqn --verbose --non-matching --no-index; ; paths
git check-attr: -a; ; words
git version: ; ; none
git help: -ag; ; words
pip list: -lv --local --user --not-required; --format --exclude; none
pip show: -fv --files; ; words
pip freeze: -l --local --all; --exclude; none
pip check: ; ; none
node npm pnpm yarn bun deno python pip uv poetry ruff black mypy pytest go cargo rustc rustup java javac mvn gradle ruby gem bundle php composer dotnet gcc clang make cmake ninja docker git tmux sqlite3 psql terraform kubectl helm aws gh perl swift kotlinc elixir mix erl ghc stack lua zig tsc eslint prettier vite: --version; ; version
go version: ; ; none
"""
