"""What is known of programs that only read: one row each.

A row lists options of the GNU and BSD versions; an option that writes, runs, watches or asks another program is left
out, and so is a program that has no safe subset worth the row (pagers, archivers, downloaders, interpreters).
"""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.shell.options import Program, names
from otel_docsfab.config.toolsets.shell.scripts import check_awk, check_sed


def _filter(flags: str = "", values: str = "", optional: str = "", *, needs: int = 1, numbers: bool = False) -> Program:
    """A program none of whose options writes or starts anything; without operands it reads its standard input."""
    return Program(names(flags), names(values), optional=names(optional), harmless=True, needs=needs, numbers=numbers)


_GREP: Final = Program(
    names(
        "EFGPivywxcLlqsobHhnaZIrRUzT --extended-regexp --fixed-strings --perl-regexp --basic-regexp --ignore-case "
        "--no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches "
        "--files-without-match "
        "--quiet --silent --no-messages --only-matching --byte-offset --with-filename --no-filename "
        "--line-number --text "
        "--null --recursive --dereference-recursive --null-data --initial-tab"
    ),
    names(
        "emABCdDf --regexp --max-count --after-context --before-context --context --include --exclude --exclude-dir "
        "--exclude-from --binary-files --file --label --directories --devices"
    ),
    optional=names("--color --colour"),
    numbers=True,
    harmless=True,
    needs=1,
)
_HASH: Final = _filter("btz --binary --text --tag --zero")
_LINES: Final = ("qvz --quiet --silent --verbose --zero-terminated", "nc --lines --bytes")

READERS: Final[dict[str, Program]] = {
    "cat": _filter(
        "AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting"
    ),
    "tac": _filter("br --before --regex", "s --separator"),
    "nl": _filter(
        "p --no-renumber", "bdfhilnsvw --body-numbering --number-format --number-width --starting-line-number"
    ),
    "head": _filter(*_LINES, numbers=True),
    "tail": _filter("qvzr --quiet --silent --verbose --zero-terminated", _LINES[1], numbers=True),
    "wc": _filter("clmwL --bytes --chars --lines --words --max-line-length"),
    "rev": _filter(),
    "fold": _filter("bs --bytes --spaces", "w --width"),
    "fmt": _filter("cstu", "w --width"),
    "expand": _filter("i --initial", "t --tabs"),
    "unexpand": _filter("a --all", "t --tabs"),
    "column": _filter("txn --table", "sco --separator --output-separator --output-width"),
    "cut": _filter(
        "nsz --complement --only-delimited", "bcdf --bytes --characters --delimiter --fields --output-delimiter"
    ),
    "paste": _filter("sz --serial", "d --delimiters"),
    "join": _filter("iz --ignore-case --header --check-order --nocheck-order", "aetvo12j"),
    "comm": _filter("123iz --check-order --nocheck-order --total"),
    "cmp": _filter("bls --print-bytes --verbose --quiet --silent", "in --ignore-initial --bytes"),
    "tr": _filter("cCdst --complement --delete --squeeze-repeats --truncate-set1"),
    "od": _filter("abcdfiloszvx", "AjNtwS --address-radix --format --read-bytes --skip-bytes"),
    "hexdump": _filter("bcCdovx --canonical", "ns --length --skip"),
    "strings": _filter("af --all --print-file-name", "nte --bytes --radix --encoding"),
    "md5sum": _HASH,
    "sha1sum": _HASH,
    "sha256sum": _HASH,
    "sha512sum": _HASH,
    "b2sum": _HASH,
    "cksum": _filter(),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "ls": _filter(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --human-readable --recursive --size --reverse --inode "
        "--group-directories-first --full-time --directory --classify --no-group --numeric-uid-gid --dereference",
        "wIT --sort --time --time-style --format --ignore --hide --indicator-style --width",
        "--color",
        needs=0,
    ),
    "stat": _filter("LfxtF --dereference --file-system --terse", "c --format --printf"),
    "du": _filter(
        "abchHkLmsSx --all --apparent-size --bytes --total --human-readable --summarize --separate-dirs "
        "--one-file-system",
        "dBt --max-depth --block-size --exclude --threshold",
        needs=0,
    ),
    "realpath": _filter(
        "emsLPqz --canonicalize-existing --canonicalize-missing --no-symlinks", "--relative-to --relative-base"
    ),
    "readlink": _filter("efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"),
    "which": _filter("as --all"),
    "sort": Program(
        names(
            "bdfghiMnrVcCmsuz --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
            "--human-numeric-sort --numeric-sort --reverse --version-sort --unique --stable --check --merge "
            "--zero-terminated"
        ),
        names("ktS --key --field-separator --buffer-size"),
        needs=1,
    ),
    "uniq": Program(
        names("cdDiuz --count --repeated --unique --ignore-case --zero-terminated"),
        names("fsw --skip-fields --skip-chars --check-chars"),
        operands=1,  # the second operand is the output file
        leading=True,
        needs=1,
    ),
    # as uniq; it tells its options by the start of a word, so that none with a value is safe
    "xxd": Program(names("abeEpu"), operands=1, leading=True, needs=1),
    "file": Program(names("bikLh0N --brief --mime --mime-type --mime-encoding --dereference --no-dereference")),
    "diff": Program(
        names(
            "abBcdeEiNpqrstTuwyZ --text --ignore-space-change --ignore-blank-lines --brief --ignore-case --new-file "
            "--recursive --report-identical-files --ignore-all-space --side-by-side --suppress-common-lines --minimal "
            "--ignore-trailing-space --strip-trailing-cr --show-c-function --left-column --no-dereference"
        ),
        names("CUWxI --exclude --exclude-from --ignore-matching-lines --label --width"),
        optional=names("--color --unified --context"),
        numbers=True,
    ),
    "tree": Program(
        names(
            "adfhilpsuDFCnNrtvxAS --dirsfirst --noreport --gitignore --prune --du --si --inodes --device --matchdirs"
        ),
        names("LIP --charset --filelimit --sort"),
    ),
    "jq": Program(
        names(
            "aceCjMrRsS --compact-output --raw-output --raw-input --slurp --sort-keys --color-output "
            "--monochrome-output "
            "--join-output --exit-status --tab --ascii-output --stream --seq"
        ),
        names("fL --indent --from-file"),
        names("--arg --argjson --slurpfile --rawfile"),
        needs=1,
    ),
    "rg": Program(
        names(
            "acFHhIiLlNnopqSsUuvwx0P. --count --count-matches --fixed-strings --with-filename --no-filename "
            "--ignore-case "
            "--case-sensitive --smart-case --files --files-with-matches --files-without-match --line-number "
            "--no-line-number "
            "--column --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global "
            "--no-heading "
            "--heading --only-matching --invert-match --word-regexp --line-regexp --multiline "
            "--multiline-dotall --pcre2 "
            "--text --follow --no-follow --trim --vimgrep --json --stats --null --unrestricted --no-messages "
            "--no-config "
            "--pretty --crlf --type-list --one-file-system --byte-offset --passthru --quiet --include-zero "
            "--glob-case-insensitive"
        ),
        names(
            "ABCefgmtTMErdj --after-context --before-context --context --regexp --file --glob --iglob "
            "--max-count --type "
            "--type-not --type-add --max-columns --encoding --replace --max-depth --sort --sortr --color "
            "--colors --engine "
            "--context-separator --max-filesize --threads --ignore-file --path-separator --field-match-separator"
        ),
    ),
    "fd": Program(
        names(
            "HIUaipsLgF10q --hidden --no-ignore --unrestricted --absolute-path --ignore-case --case-sensitive --follow "
            "--full-path --glob --fixed-strings --print0 --no-ignore-vcs --quiet --strip-cwd-prefix"
        ),
        names("teEdSc --type --extension --exclude --max-depth --min-depth --exact-depth --size --color --max-results"),
    ),
    "sed": Program(
        names("nErsuz --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox"),
        names("e --expression"),  # -l has a value in GNU sed only
        leading=True,
        needs=1,
        check=check_sed,
    ),
    "awk": Program(frozenset(), names("Fv"), needs=1, check=check_awk),
}
for _alias, _name in {"fdfind": "fd", "gawk": "awk", "mawk": "awk", "gsed": "sed"}.items():
    READERS[_alias] = READERS[_name]

_ANY: Final = Program(frozenset())
BESIDE: Final[dict[str, Program]] = {
    "cd": Program(names("LPe"), operands=1, harmless=True),
    "true": _ANY,
    "false": _ANY,
    ":": _ANY,
    "pwd": Program(names("LP"), operands=0),
    "basename": Program(names("az --multiple --zero"), names("s --suffix"), harmless=True),
    "dirname": Program(names("z --zero"), harmless=True),
    "seq": Program(names("w --equal-width"), names("sf --separator --format")),
}
"""Programs that may stand beside a read: they neither write nor read files."""

TIME_DEPENDENT: Final = frozenset(
    {"date", "ps", "top", "uptime", "free", "df", "who", "w", "sleep", "watch", "time", "jobs", "pgrep", "ss", "lsof"}
)
"""Programs whose output is about the moment, so that asking again is no re-read; named for the reason given only."""
