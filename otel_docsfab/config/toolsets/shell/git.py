"""git: subcommands that read the history or the index, with the options that neither write nor start a program.

``git status`` and ``git diff`` are not here: in real runs they poll work in progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from otel_docsfab.config.toolsets.shell.options import Given, Program, names, take_apart
from otel_docsfab.config.toolsets.shell.scripts import check_git_formats
from otel_docsfab.config.toolsets.shell.words import NotSureError, Word

_DIRECTORY: Final = Word("-C", may_be_option=True)
_GLOBAL_FLAGS: Final = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
_POLLS: Final = frozenset({"status", "diff"})

_DIFF_FLAGS: Final = (
    "pusbwaRz --patch --no-patch --raw --stat --numstat --shortstat --summary --name-only --name-status --no-color "
    "--no-ext-diff --no-textconv --no-renames --ignore-space-change --ignore-all-space --ignore-blank-lines --minimal "
    "--patience --histogram --function-context --full-index --text --cc --no-prefix --patch-with-stat --word-diff "
    "--compact-summary --check"
)
_DIFF_VALUES: Final = "USG --diff-filter --unified --diff-algorithm --inter-hunk-context --find-object"
_DIFF_OPTIONAL: Final = "--color --abbrev --stat --word-diff --find-renames --find-copies --relative --dirstat"

_LOG: Final = Program(
    names(
        "iEFgcmMCWt " + _DIFF_FLAGS + " --oneline --graph --all --decorate --no-decorate --follow --no-merges --merges "
        "--first-parent --reverse --abbrev-commit --no-abbrev-commit --full-history --branches --tags --remotes "
        "--date-order "
        "--topo-order --author-date-order --cherry-pick --left-right --simplify-merges --ancestry-path --no-walk --not "
        "--all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp "
        "--source --walk-reflogs "
        "--boundary --parents --children --simplify-by-decoration --sparse --relative-date --no-notes --use-mailmap "
        "--pickaxe-all --pickaxe-regex --log-size --full-diff --no-expand-tabs --show-pulls"
    ),
    names(
        "nL "
        + _DIFF_VALUES
        + " --max-count --skip --since --until --after --before --author --committer --grep --date "
        "--format --since-as-filter --min-parents --max-parents --decorate-refs --exclude --glob"
    ),
    optional=names(_DIFF_OPTIONAL + " --pretty --decorate --branches --tags --remotes --no-walk"),
    numbers=True,
    check=check_git_formats,
)

SUBCOMMANDS: Final[dict[str, Program]] = {
    "log": _LOG,
    "show": _LOG,
    "rev-list": _LOG._replace(flags=_LOG.flags | names("--count --objects")),
    "blame": Program(
        names(
            "wlstefnbcMC --show-name --show-number --show-email --porcelain --line-porcelain --incremental "
            "--root --color-lines"
        ),
        names("L --since --date --ignore-rev --ignore-revs-file"),
        optional=names("--abbrev"),
    ),
    "grep": Program(
        names(
            "aIiwvhHEGPFnlLzocpWqr --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp "
            "--basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only "
            "--files-without-match --null --only-matching --count --no-color --break --heading --show-function "
            "--function-context --and --or --not --all-match --quiet --cached --untracked --no-index "
            "--exclude-standard "
            "--no-exclude-standard --recurse-submodules --no-textconv --recursive --no-recursive"
        ),
        names("eABCfm --max-depth --after-context --before-context --context --threads --max-count"),
        optional=names("--color"),
        numbers=True,
    ),
    "ls-files": Program(
        names(
            "cdmoiskuvztf --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory "
            "--no-empty-directory --eol --full-name --exclude-standard --recurse-submodules --deduplicate "
            "--error-unmatch"
        ),
        names("xX --exclude --exclude-from --with-tree --format"),
        optional=names("--abbrev"),
    ),
    "ls-tree": Program(
        names("drtlz --long --name-only --name-status --object-only --full-name --full-tree"),
        names("--format"),
        optional=names("--abbrev"),
    ),
    "cat-file": Program(names("tsep")),
    "rev-parse": Program(
        names(
            "--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir "
            "--is-inside-work-tree "
            "--verify --quiet --symbolic --symbolic-full-name --all --branches --tags --remotes"
        ),
        optional=names("--short --abbrev-ref"),
    ),
    "merge-base": Program(names("a --all --octopus --independent --is-ancestor --fork-point")),
}


def read_git(words: Sequence[Word]) -> Given:
    """Judge a git command line.

    Args:
        words: The words after ``git``.

    Returns:
        The subcommand's options and operands.

    Raises:
        NotSureError: It is not surely reading.
    """
    rest = list(words)
    while rest and rest[0].may_be_option:
        option = rest.pop(0)
        following = next(iter(rest), None)
        if option == _DIRECTORY and following is not None and not (following.may_be_option or following.many):
            rest.pop(0)
        elif not option.known or option.text not in _GLOBAL_FLAGS:
            raise NotSureError(f"git option {option.text[:40] or 'of unknown text'} is not known to read only")
    if not rest or not rest[0].known:
        raise NotSureError("git without a known subcommand")
    subcommand = rest.pop(0).text
    if subcommand in _POLLS:
        raise NotSureError(f"git {subcommand} polls work in progress")
    program = SUBCOMMANDS.get(subcommand)
    if program is None:
        raise NotSureError(f"git {subcommand[:40]} is not known to read only")
    return take_apart(program, rest)
