"""Random attempts: what a runtime may do, as plain data.

A history is a list of moves. A move that makes no sense at its moment (a result while nothing runs) is left out by
who plays it, so that every list is a history and Hypothesis can shrink freely.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from otel_docsfab.core import (
    AnswerPath,
    AnswerReturned,
    AttemptEnded,
    Compacted,
    Event,
    Limits,
    Outcome,
    Output,
    OutputStarted,
    RequestEnded,
    RequestSent,
    RetryOf,
    Step,
    StepKind,
    TurnBegan,
    TurnEnded,
)
from tests.properties.story import Setting

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read", {"path": "docs/a.md"}),
    ("read", {"path": "docs/b.md"}),
    ("grep", {"pattern": "a", "path": "docs"}),
    ("edit", {"path": "docs/a.md", "text": "one"}),
    ("edit", {"path": "docs/a.md", "text": "two"}),
    ("bash", {"command": "make"}),
    ("submit_quality_evaluation", {"score": 1}),
]
READS = (0, 1, 2)
SUBMIT = 6


class Call(NamedTuple):
    """A call starts; unless ``holds``, it returns at once when it was not denied."""

    what: int
    content: str | None = "A"
    ok: bool = True
    own_notice: bool = False
    known_arguments: bool = True
    holds: bool = False
    since_mark: int = 0
    """How many of the newest asks and stops the call's real start lies before."""
    has_id: bool = True
    described_late: bool = False
    """Whether arguments and id are known only at the call's end."""


class Finish(NamedTuple):
    """A running call returns: the ``which``-th of them."""

    which: int
    content: str | None = "A"
    ok: bool = True


class Evict(NamedTuple):
    """Results leave the context: of the calls that started so many calls ago, or of a tool and arguments."""

    ago: tuple[int, ...] = ()
    calls: tuple[int, ...] = ()


class Wait(NamedTuple):
    """Time passes."""

    ms: int


Move = Call | Finish | Evict | Wait | Event

PLAIN_READS = [Call(what) for what in READS]
_VARIANTS: list[dict[str, Any]] = [
    {},
    {},
    {"content": "B"},
    {"content": None},
    {"ok": False},
    {"own_notice": True},
    {"known_arguments": False},
    {"holds": True},
    {"holds": True, "ok": False},
    {"holds": True, "has_id": False},
    {"since_mark": 1},
    {"since_mark": 1, "holds": True},
    {"since_mark": 2},
    {"has_id": False},
    {"has_id": False, "content": "B"},
    {"described_late": True},
    {"described_late": True, "holds": True},
    {"described_late": True, "known_arguments": False},
]
CALL_MOVES = [Call(what, **variant) for variant in _VARIANTS for what in range(len(CALLS))]
_RETURNS = [("A", True), ("A", False), ("B", True), (None, True)]
FINISHES = [Finish(which, content, ok) for which in range(3) for content, ok in _RETURNS]
EVICTIONS = [
    *(Evict(ago) for ago in [(0,), (1,), (2,), (5,), (0, 1), (1, 3), (0, 2, 4), (1, 2, 3, 4, 5), tuple(range(13))]),
    *(Evict((), (what,)) for what in READS),
    Evict((0, 3), (0,)),
    Evict(),
]
WAITS = [Wait(ms) for ms in (0, 1, 60, 150, 350)]
TURNS: list[Move] = [TurnBegan(), TurnBegan(), TurnBegan(), TurnEnded()]
STREAM: list[Move] = [RequestSent(True), RequestSent(False), RequestEnded(), *map(OutputStarted, Output)]
ANSWERS: list[Move] = [AnswerReturned(), AnswerReturned(True), AnswerReturned(False)]
ENDINGS: list[Move] = [AttemptEnded(), AttemptEnded(Outcome.ABANDONED)]
MOVES = st.sampled_from(
    [
        *PLAIN_READS * 40,
        *CALL_MOVES,
        *TURNS * 25,
        *FINISHES * 3,
        *EVICTIONS * 2,
        *WAITS * 3,
        *STREAM * 4,
        *ANSWERS,
        *ENDINGS[:1],
        *[Compacted()] * 8,
    ]
)
"""A move is drawn as a whole, with what is common more often: one choice a move keeps generation quick."""

LIMITS = st.builds(
    Limits,
    repeat_streak=st.integers(0, 3),
    unchanged_re_reads=st.integers(0, 5),
    withheld_reads=st.integers(0, 3),
    tool_call_ceiling=st.sampled_from([512, 512, 12, 3]),
    max_no_progress_retries=st.integers(0, 2),
    decode_tokens_per_second=st.just(1_000),
    default_answer_tokens=st.sampled_from([100, 400, 900]),
    max_output_tokens=st.sampled_from([150, 1_000]),
    turn_latency_ms=st.sampled_from([0, 7]),
    elapsed_share_bp=st.sampled_from([0, 3_333, 10_000]),
)
STEPS = st.builds(
    Step,
    id=st.sampled_from([None, "review-documentation", "plan"]),
    kind=st.sampled_from([StepKind.READ_ONLY, StepKind.READ_ONLY, StepKind.WRITE, None]),
    judgment=st.booleans(),
    answer_path=st.sampled_from([None, *AnswerPath]),
)


@st.composite
def settings_of_attempts(draw: st.DrawFn) -> Setting:
    """An attempt with small limits, so that every bound is in reach."""
    retry_of = draw(st.sampled_from([None, *RetryOf]))
    return Setting(
        step=draw(STEPS),
        limits=draw(LIMITS),
        number=1 if retry_of is None else draw(st.integers(2, 3)),
        retry_of=retry_of,
        timer_ms=draw(st.sampled_from([None, 600, 1_000, 5_000])),
        max_results=draw(st.sampled_from([65_536, 65_536, 3])),
    )


HISTORIES = st.lists(MOVES, min_size=30, max_size=90)
