"""Claude Code session files."""

from __future__ import annotations

from uuid import UUID

from otel_docsfab.replay import script
from otel_docsfab.replay.readers import Problems, new_attempts, read_recordings
from tests.replay.files import events_of, told, write_json, write_lines

SESSION = "4a6cb760-05d1-4709-a72a-7c2a6cc6ffa3"


class Session:
    """Writes records as the program does: one content block a record, parents linked, seconds apart."""

    def __init__(self, **common):
        self.common = {"sessionId": SESSION, "version": "2.1.49", "isSidechain": False} | common
        self.records = []
        self.parent = None

    def _add(self, kind, **fields):
        number = len(self.records) + 1 + 1000 * len(self.common.get("agentId", ""))
        uuid = str(UUID(int=number))
        at = f"2026-02-25T08:00:{len(self.records):02d}.500Z"
        record = {"parentUuid": self.parent, "type": kind, "uuid": uuid, "timestamp": at, **self.common, **fields}
        self.records.append(record)
        self.parent = uuid
        return self

    def user(self, content, **fields):
        return self._add("user", message={"role": "user", "content": content}, **fields)

    def say(self, message_id, text, **fields):
        return self._block(message_id, {"type": "text", "text": text}, **fields)

    def use(self, message_id, call_id, path="a.txt", tool="Read"):
        return self._block(message_id, {"type": "tool_use", "id": call_id, "name": tool, "input": {"file_path": path}})

    def _block(self, message_id, block, stop_reason=None, **fields):
        message = {
            "id": message_id,
            "role": "assistant",
            "model": "m-1",
            "content": [block],
            "stop_reason": stop_reason,
        }
        return self._add("assistant", message=message, **fields)

    def result(self, call_id, content, **fields):
        return self.user([{"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}])

    def system(self, subtype, **fields):
        return self._add("system", subtype=subtype, **fields)


READ = '{"file_path": "a.txt"}'


def _read(tmp_path, session, name="s.jsonl"):
    return events_of(write_lines(tmp_path / name, session.records))


def test_re_reads_parallel_calls_and_the_answer(tmp_path):
    session = (
        Session()
        .user("read it")
        .say("m1", "let me look")
        .use("m1", "t1")
        .result("t1", "A")
        .use("m2", "t2")
        .use("m2", "t3", "b.txt")
        .result("t3", "B")
        .result("t2", "A")
        .say("m3", "done")
    )
    events = _read(tmp_path, session)
    assert told(events) == [
        "open claude-code",
        "turn",
        f"call 1 Read {READ}",
        'result 1 ok "A"',
        "turn",
        f"call 2 Read {READ}",
        'call 3 Read {"file_path": "b.txt"}',
        'result 3 ok "B"',
        'result 2 ok "A"',
        "turn",
        "answered",
        "closed",
    ]
    opened, turn, call = events[:3]
    assert (opened.run_id, turn.model, call.call_id) == (SESSION, "m-1", "t1")
    assert call.at_ms == 1_772_006_402_500


def test_one_prompt_one_attempt_and_what_is_no_prompt(tmp_path):
    session = (
        Session()
        .user("first")
        .use("m1", "t1")
        .result("t1", "A")
        .user("Stop hook feedback: go on", isMeta=True)
        .say("m2", "fine")
        .user("<task-notification>done</task-notification>")
        .user("<command-name>/cost</command-name>")
        .user("<local-command-stdout>1 $</local-command-stdout>")
        .user("second")
        .say("m3", "yes")
    )
    events = _read(tmp_path, session)
    shapes = told(events)
    assert shapes.count("open claude-code") == 2
    assert shapes[-4:] == ["open claude-code", "turn", "answered", "closed"]


def test_text_after_which_the_host_asks_again_is_no_answer(tmp_path):
    session = (
        Session().user("go").say("m1", "done").user("hook: not yet", isMeta=True).use("m2", "t1").result("t1", "A")
    )
    assert "answered" not in told(_read(tmp_path, session))
    cut = Session().user("go").say("m1", "and so", stop_reason="max_tokens")
    assert told(_read(tmp_path, cut)) == ["open claude-code", "turn", "closed"]
    error = Session().user("go").say("m1", "hm").say("e1", "API Error: 529", isApiErrorMessage=True)
    assert told(_read(tmp_path, error)) == ["open claude-code", "turn", "closed"]


def test_r12_compaction_and_r12a_eviction(tmp_path):
    session = (
        Session()
        .user("go")
        .use("m1", "t1")
        .result("t1", "A")
        .system("microcompact_boundary", microcompactMetadata={"compactedToolIds": ["t1", 7], "trigger": "auto"})
        .use("m2", "t2")
        .result("t2", "A")
        .system("compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9})
        .user("This session is being continued from a previous conversation", isCompactSummary=True)
        .use("m3", "t3")
        .result("t3", "A")
    )
    shapes = told(_read(tmp_path, session))
    assert [line for line in shapes if not line.startswith(("call", "result"))] == [
        "open claude-code",
        "turn",
        "evicted t1",
        "turn",
        "compacted",
        "compacted",
        "turn",
        "closed",
    ]


def test_results_that_stand_for_something_else_are_unjudged(tmp_path):
    session = Session().user("go")
    contents = [
        [{"type": "text", "text": "A"}],
        [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}],
        [{"type": "image", "source": {}}],
        "<persisted-output>\nOutput too large, saved to x",
        "[Old tool result content cleared]",
        "key = [REDACTED]",
        "<redacted>",
        "Read 200 lines (ctrl+r to expand)",
        "",
        None,
    ]
    for number, content in enumerate(contents):
        session.use(f"m{number}", f"t{number}").result(f"t{number}", content)
    results = [event for event in _read(tmp_path, session) if isinstance(event, script.Result)]
    assert [(result.reason or result.result) for result in results] == [
        "A",
        ["A", "B"],
        "result-not-text",
        "result-offloaded",
        "result-placeholder",
        "result-redacted",
        "result-redacted",
        "result-placeholder",
        "",
        "result-not-captured",
    ]


def test_failures_interruptions_and_missing_results(tmp_path):
    session = (
        Session()
        .user("go")
        .use("m1", "t1")
        .use("m1", "t2")
        .result("t1", "<tool_use_error>no such file</tool_use_error>", is_error=True)
        .use("m2", "t3")
        .user("[Request interrupted by user for tool use]")
        .user("again")
        .use("m3", "t4")
    )
    assert told(_read(tmp_path, session)) == [
        "open claude-code",
        "turn",
        f"call 1 Read {READ}",
        f"call 2 Read {READ}",
        'result 1 failed "<tool_use_error>no such file</tool_use_error>"',
        "turn",
        f"call 3 Read {READ}",
        "result 2 result-not-captured null",
        "result 3 result-not-captured null",
        "cancelled",
        "open claude-code",
        "turn",
        f"call 1 Read {READ}",
        "result 1 result-not-captured null",
        "closed",
    ]
    lost = [event for event in _read(tmp_path, session) if isinstance(event, script.Result) and event.result is None]
    assert [result.ok for result in lost] == [False, False, True]


def test_sub_agents_are_apart_by_agent_id(tmp_path):
    main = Session().user("go").use("m1", "t1", tool="Task")
    sub = Session(isSidechain=True, agentId="a1").user("look").use("s1", "u1").result("u1", "A").say("s2", "found")
    main.result("t1", "found").use("m2", "t2").result("t2", "A")
    mixed = [*main.records[:2], *sub.records, *main.records[2:]]
    events = events_of(write_lines(tmp_path / "s.jsonl", mixed))
    assert told(events) == [
        "open claude-code",
        "turn",
        f"call 1 Task {READ}",
        'result 1 ok "found"',
        "turn",
        f"call 2 Read {READ}",
        'result 2 ok "A"',
        "closed",
        "open sub-agent",
        "turn",
        f"call 1 Read {READ}",
        'result 1 ok "A"',
        "turn",
        "answered",
        "closed",
    ]


def test_a_finished_sub_agent_is_closed_at_once(tmp_path):
    main = Session().user("go").use("m1", "t1", tool="Task")
    sub = Session(isSidechain=True, agentId="a1").user("look").say("s1", "found")
    done = {"agentId": "a1", "status": "completed"}
    main.user([{"type": "tool_result", "tool_use_id": "t1", "content": "found"}], toolUseResult=done)
    main.say("m2", "ok")
    events = events_of(write_lines(tmp_path / "s.jsonl", [*main.records[:2], *sub.records, *main.records[2:]]))
    closed = [event.attempt for event in events if isinstance(event, script.AttemptClosed)]
    assert ["agent-a1" in attempt for attempt in closed] == [True, False]


def test_old_sub_agents_are_apart_by_the_chain_of_their_records(tmp_path):
    records = []
    for letter, offset in (("x", 100), ("y", 200)):
        parent = None
        for number, (kind, message) in enumerate(
            [
                ("user", {"role": "user", "content": "look"}),
                (
                    "assistant",
                    {"id": letter, "content": [{"type": "tool_use", "id": letter, "name": "Read", "input": {}}]},
                ),
                ("user", {"content": [{"type": "tool_result", "tool_use_id": letter, "content": "A"}]}),
            ]
        ):
            uuid = str(UUID(int=offset + number))
            records.append(
                (number, {"type": kind, "isSidechain": True, "uuid": uuid, "parentUuid": parent, "message": message})
            )
            parent = uuid
    interleaved = [record for _, record in sorted(records, key=lambda pair: pair[0])]
    write_lines(tmp_path / "s.jsonl", interleaved)
    one = ["open sub-agent", "turn", "call 1 Read {}", 'result 1 ok "A"', "closed"]
    assert told(events_of(tmp_path / "s.jsonl")) == one * 2


def test_agents_that_cannot_be_told_apart_are_unjudged(tmp_path):
    """Two agents without ids and without chains, their model calls overlapping."""
    session = (
        Session()
        .user("go")
        .use("m0", "t0")
        .result("t0", "A")
        .use("m1", "t1")  # agent one
        .use("n1", "u1")  # agent two, while the call of agent one is open
        .result("u1", "A")
        .result("t1", "A")
        .use("n2", "u2")
        .result("u2", "A")
    )
    results = [event for event in _read(tmp_path, session) if isinstance(event, script.Result)]
    assert [result.reason for result in results] == [None, "agents-mixed", "agents-mixed", "agents-mixed"]


def test_a_lost_result_does_not_look_like_two_agents(tmp_path):
    session = Session().user("go").use("m1", "t1").use("m2", "t2").result("t2", "A").use("m3", "t3").result("t3", "A")
    results = [event for event in _read(tmp_path, session) if isinstance(event, script.Result)]
    assert [(result.call, result.reason) for result in results] == [
        (2, None),
        (3, None),
        (1, "result-not-captured"),
    ]


def test_scrubbed_ids_are_paired_by_order(tmp_path):
    for scrub in (lambda _: "[ID]", lambda _: None):
        session = Session().user("go")
        session.use("m1", scrub("t1")).use("m1", scrub("t2"), "b.txt").result(scrub("t1"), "A").result(scrub("t2"), "B")
        session.use("m2", scrub("t3")).result(scrub("t3"), "A")
        results = [event for event in _read(tmp_path, session) if isinstance(event, script.Result)]
        assert [(result.call, result.result) for result in results] == [(1, "A"), (2, "B"), (3, "A")]
    session = Session().user("go").use("m1", "call-x1").result("result-y1", "A").use("m2", "call-x2").result("y2", "B")
    results = [event for event in _read(tmp_path, session) if isinstance(event, script.Result)]
    assert [(result.call, result.result) for result in results] == [(1, "A"), (2, "B")]


def test_a_result_of_another_attempt_is_left_out(tmp_path):
    session = Session().user("go").use("m1", "t1").result("t1", "A").use("m2", "t2").result("other", "X")
    session.result("t2", "B")
    results = [event for event in _read(tmp_path, session) if isinstance(event, script.Result)]
    assert [(result.call, result.result) for result in results] == [(1, "A"), (2, "B")]


def test_digits_are_never_masked_in_arguments(tmp_path):
    big = 123456789012345678901234567890
    session = Session().user("go")
    for offset in (big, big + 1):
        session._block(
            f"m{offset}", {"type": "tool_use", "id": f"t{offset}", "name": "Read", "input": {"offset": offset}}
        )
        session.result(f"t{offset}", "A")
    calls = [event for event in _read(tmp_path, session) if isinstance(event, script.Call)]
    assert [call.arguments for call in calls] == [{"offset": big}, {"offset": big + 1}]


def test_redacted_and_missing_arguments_say_so(tmp_path):
    session = Session().user("go")
    for number, arguments in enumerate([{"file_path": "<REDACTED>"}, {"edits": [{"x": "[REDACTED:KEY]"}]}, None]):
        session._block("m1", {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": arguments})
    calls = [event for event in _read(tmp_path, session) if isinstance(event, script.Call)]
    assert [call.reason for call in calls] == ["arguments-redacted", "arguments-redacted", "arguments-not-captured"]


def test_repeated_records_and_resumed_files_are_taken_once(tmp_path):
    session = Session().user("go").use("m1", "t1").result("t1", "A").say("m2", "done")
    write_lines(tmp_path / "1.jsonl", [*session.records[:2], *session.records[1:]])
    resumed = [record | {"sessionId": "other"} for record in session.records]
    write_lines(tmp_path / "2.jsonl", [{"type": "summary", "summary": "s", "leafUuid": "x"}, *resumed])
    seen: set[int] = set()
    kept = [
        event for recording in read_recordings([tmp_path], Problems()) for event in new_attempts(recording.events, seen)
    ]
    assert told(kept) == [
        "open claude-code",
        "turn",
        f"call 1 Read {READ}",
        'result 1 ok "A"',
        "turn",
        "answered",
        "closed",
    ]


def test_agent_files_in_a_project_folder_with_other_files(tmp_path):
    sub = Session(isSidechain=True, agentId="a1").user("look").use("s1", "u1").result("u1", "A")
    write_lines(tmp_path / SESSION / "subagents" / "agent-a1.jsonl", sub.records)
    write_json(tmp_path / SESSION / "subagents" / "agent-a1.meta.json", {"agentType": "Explore"})
    write_lines(tmp_path / f"{SESSION}.jsonl", Session().user("go").say("m1", "hi").records)
    opened = [line for line in told(events_of(tmp_path)) if line.startswith("open")]
    assert sorted(opened) == ["open claude-code", "open sub-agent"]


def test_a_prompt_queued_in_the_middle_of_a_run_is_an_attempt_of_its_own(tmp_path):
    session = Session().user("go").use("m1", "t1").result("t1", "A")
    session._add("attachment", attachment={"type": "queued_command", "prompt": "also b", "commandMode": "prompt"})
    session.use("m2", "t2").result("t2", "A")
    assert told(_read(tmp_path, session)).count("open claude-code") == 2
