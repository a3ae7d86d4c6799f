"""What the scripted models ask for, and what they are found to have received. Runs in the frameworks' environments."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from otel_docsfab import Supervisor
from otel_docsfab.testing import MemorySink

CONTENT = {"a.md": "alpha alpha\nsecond line", "b.md": "beta beta", "c.md": "gamma"}
ANSWER = "the answer"
MODES = ("sync", "async", "stream")

Turn = list[tuple[str, dict[str, Any]]]


def read(path: str = "a.md") -> tuple[str, dict[str, Any]]:
    return ("read", {"path": path})


def edit(text: str = "x") -> tuple[str, dict[str, Any]]:
    return ("edit", {"path": "a.md", "text": text})


def submit(verdict: str = "good") -> tuple[str, dict[str, Any]]:
    return ("submit_quality_evaluation", {"verdict": verdict})


READ = [read()]


@dataclass
class Request:
    """What a model was sent: tools offered, results by call id as text parts, and all user texts, in order."""

    tools: list[str]
    results: dict[str, list[str]]
    users: list[str]


@dataclass
class Script:
    """A model's turns; past their end it answers. ``seen`` fills with what it was sent.

    ``heeds`` models answer as soon as no tools are offered; the others go on calling.
    """

    turns: list[Turn]
    heeds: bool = True
    seen: list[Request] = field(default_factory=list)
    calls: int = 0

    def next(self, request: Request) -> Turn | None:
        """The calls of this response, with ids; None for the answer."""
        self.seen.append(request)
        number = self.calls
        self.calls += 1
        if number >= len(self.turns) or (self.heeds and not request.tools):
            return None
        return self.turns[number]

    def ids(self) -> list[str]:
        """Ids of the calls of the newest response."""
        return [f"call_{self.calls}_{place}" for place in range(len(self.turns[self.calls - 1]))]


class Tools:
    """The tools' bodies, and how often each ran."""

    def __init__(self) -> None:
        self.ran: dict[str, int] = {"read": 0, "edit": 0, "submit": 0}
        self.content = dict(CONTENT)
        self.first_read: Callable[[], object] = lambda: None

    def read(self, path: str) -> str:
        self.ran["read"] += 1
        if self.ran["read"] == 1:
            self.first_read()
        if path not in self.content:
            raise FileNotFoundError(path)
        return self.content[path]

    def edit(self, path: str, text: str) -> str:
        self.ran["edit"] += 1
        return f"edited {path} {text}"

    def submit(self, verdict: str) -> str:
        self.ran["submit"] += 1
        return f"submitted {verdict}"


@dataclass
class Facts:
    """What became of a story, as JSON for the tests."""

    stop: str | None = None
    answer: str | None = None
    error: str | None = None
    requests: list[Request] = field(default_factory=list)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    ran: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


class Stage:
    """A supervisor with a memory, scripted models and counted tools."""

    def __init__(self, *turns: Turn, heeds: bool = True, mode: str = "enforce", **options: Any) -> None:
        self.sink = MemorySink()
        self.supervisor = Supervisor(sinks=[self.sink], mode=mode, **options)
        self.script = Script(list(turns), heeds)
        self.tools = Tools()
        self.facts = Facts()

    def report(self, **more: Any) -> Facts:
        facts = self.facts
        facts.requests = self.script.seen
        facts.attempts = [summary(record) for record in self.sink.records]
        facts.verdicts = list(self.sink.verdicts)
        facts.decisions = [f"{decision.action}: {decision.message}" for decision in self.sink.decisions]
        facts.ran = self.tools.ran
        facts.faults = {str(site): count for site, count in self.supervisor.faults.counts().items() if count}
        facts.more.update(more)
        return facts


def summary(record: Any) -> dict[str, Any]:
    """The counts of a record."""
    evidence = record.read_evidence
    return {
        "attempt": record.attempt,
        "agent": record.agent_name,
        "run": record.run_id,
        "outcome": str(record.outcome),
        "code": None if record.code is None else str(record.code),
        "message": None if record.stop is None else record.stop.message,
        "asked": None if record.conclude_now is None else [str(record.conclude_now.trigger), record.conclude_now.turn],
        "turns": record.turns,
        "calls": record.calls,
        "denied": {str(reason): count for reason, count in record.denied.items()},
        "verdicts": {str(verdict): count for verdict, count in record.verdicts.items() if count},
        "evidence": None if evidence is None else dataclasses.asdict(evidence),
        "enforced": record.enforced,
    }


def tell(stories: dict[str, Callable[[], Facts]], wanted: list[str]) -> None:
    """Play stories and print their facts, one JSON object by name."""
    told = {name: dataclasses.asdict(stories[name]()) for name in wanted or stories}
    print(json.dumps(told))  # noqa: T201 - this is how a scenario answers
