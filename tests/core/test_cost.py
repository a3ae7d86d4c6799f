"""The machine in the long run: constant cost, bounded memory, no content kept."""

from __future__ import annotations

import gc
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import pytest

from tests.core.attempts import Attempt


def opcodes(work) -> int:
    """How many bytecodes the work takes. What traces already (coverage) goes on afterwards."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    assert count
    return count


def history(size: int) -> Attempt:
    """So many results of one call and of many, delivered again and again, evicted, repeated and failed."""
    attempt = Attempt(limits={"repeat_streak": 10**6, "re_reads": 10**6, "withheld": 10**6, "ceiling": 10**6})
    for n in range(size):
        attempt.turn()
        attempt.read("a", f"version {n}", call_id=f"a{n}")
        attempt.read(f"docs/{n}", call_id=f"b{n}")
        attempt.read("docs/0", call_id=f"c{n}")
        attempt.edit(f"{n}")
        attempt.read(f"missing/{n}", ok=False)
    return attempt


COSTLY = {
    "new content": lambda a: a.read("a", "new", call_id="new"),
    "re-read": lambda a: a.read("docs/1", call_id="again"),
    "failed read": lambda a: a.read("missing/0", ok=False),
    "progress call": lambda a: a.edit("new"),
    "turn": lambda a: a.turn(),
    "compaction": lambda a: a.compact(),
    "eviction by id": lambda a: a.evict("a3", "b2"),
    "answer": lambda a: a.answer(),
    "record": lambda a: a.machine.record(),
}


@pytest.mark.parametrize("what", COSTLY)
def test_the_cost_of_an_event_does_not_grow_with_history(what):
    small, large = history(10), history(500)
    assert opcodes(lambda: COSTLY[what](small)) == opcodes(lambda: COSTLY[what](large))


def test_an_eviction_by_tool_and_arguments_walks_each_delivery_once():
    call = ("read", {"path": "a"})
    costs = []
    for size in (10, 500):
        attempt = history(size)
        attempt.evict_calls(call)
        again = opcodes(lambda: attempt.evict_calls(call))  # noqa: B023 - called at once
        assert attempt.read("a", "version 7").verdict == "deliver"
        costs.append((again, opcodes(lambda: attempt.evict_calls(call))))  # noqa: B023 - called at once
    assert costs[0] == costs[1]


def held_by(root) -> list[object]:
    """Every object that can be reached from the machine, code and modules apart."""
    seen, todo = {}, [root]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)):
            continue
        seen[id(thing)] = thing
        todo += gc.get_referents(thing)
    return list(seen.values())


def test_no_content_is_kept_but_the_label_of_the_most_read():
    attempt = Attempt(limits={"withheld": 1_000})
    secrets = [f"hush-{n}" for n in range(40)]
    for n, secret in enumerate(secrets):
        attempt.turn()
        attempt.read(f"path/{secret}", f"content {secret}", call_id=f"id {secret}")
        attempt.call("bash", {"command": secret}, secret)
        attempt.call("edit", {"path": secret, "text": secret}, secret, ok=n % 2 == 0)
        attempt.read(f"failed/{secret}", secret, ok=False)
    attempt.read("path/hush-7", "content hush-7")
    attempt.evict("id hush-3")
    attempt.compact()
    attempt.answer()
    texts = [thing for thing in held_by(attempt.machine) if isinstance(thing, (str, bytes))]
    assert len(texts) > 100  # digests; the walk went somewhere
    found = [text for text in texts if (b"hush" in text if isinstance(text, bytes) else "hush" in text)]
    assert found == ["path/hush-7"]
    assert "hush" not in str(attempt.record)


def test_the_walk_finds_what_is_held():
    attempt = Attempt()
    attempt.start("read", {"path": "hush"}, call_id="hush id")
    texts = [thing for thing in held_by(attempt.machine) if isinstance(thing, str) and "hush" in thing]
    assert sorted(texts) == ["hush", "hush id"]


def test_a_result_costs_few_bytes():
    attempt = history(0)
    before = size_of(attempt.machine)
    for n in range(2_000):
        attempt.read(f"docs/{n}", call_id=f"{n}")
    assert (size_of(attempt.machine) - before) / 2_000 < 400


def size_of(machine) -> int:
    return sum(sys.getsizeof(thing) for thing in held_by(machine))
