"""What holds in every attempt, whatever happens in it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from otel_docsfab.core import (
    SUBMIT_TOOL,
    AnswerPath,
    AnswerReturned,
    AskForAnswer,
    AttemptEnded,
    CallDescribed,
    CallStarted,
    Compacted,
    DeliverResult,
    Denial,
    DenyCall,
    EvaluateAnswer,
    Evicted,
    Outcome,
    ResultReturned,
    StepKind,
    StopAttempt,
    ToolClass,
    Trigger,
    TurnBegan,
    TurnEnded,
    Verdict,
)
from otel_docsfab.errors import RefusedEvent
from tests.core.attempts import whole_state
from tests.properties.histories import HISTORIES, Evict, settings_of_attempts
from tests.properties.player import Player, replay, result_of_nobody, started_again

SETTINGS = settings_of_attempts()


def steps(player):
    """Each event with what was said to it, one effect at a time, and its time."""
    for (event, at_ms), effects in zip(player.told, player.said, strict=True):
        yield event, at_ms, effects


def results(player):
    """Each result event with its call as described and its verdict."""
    calls = {}
    for event, _, effects in steps(player):
        if isinstance(event, CallStarted):
            calls[event.call] = event
        elif isinstance(event, CallDescribed):
            calls[event.call] = calls[event.call]._replace(**event._asdict())
        elif isinstance(event, ResultReturned):
            (effect,) = [effect for effect in effects if isinstance(effect, DeliverResult)]
            yield event, calls[event.call], effect


@given(SETTINGS, HISTORIES)
def test_renaming_call_ids_changes_nothing(setting, moves):
    assert Player(setting).play(moves).said == Player(setting, name_of=lambda n: f"{-n:x}").play(moves).said


@given(SETTINGS, HISTORIES)
def test_reusing_one_call_id_for_everything_changes_nothing_but_evictions(setting, moves):
    moves = [move._replace(ago=()) if isinstance(move, Evict) else move for move in moves]
    assert Player(setting).play(moves).said == Player(setting, name_of=lambda _: "call_0").play(moves).said


@given(SETTINGS, HISTORIES)
def test_renaming_call_keys_changes_nothing_but_the_keys(setting, moves):
    player = Player(setting).play(moves)

    def renamed(thing):
        return thing._replace(call=("key", thing.call)) if hasattr(thing, "call") else thing

    said = replay(setting, [(renamed(event), at_ms) for event, at_ms in player.told])
    assert said == [tuple(renamed(effect) for effect in effects) for effects in player.said]


@given(SETTINGS, HISTORIES)
def test_replaying_the_events_gives_the_same_effects(setting, moves):
    player = Player(setting).play(moves)
    assert replay(setting, player.told) == player.said


@given(SETTINGS, HISTORIES)
def test_who_is_never_woken_says_the_same_only_later_unless_the_timer_fires(setting, moves):
    woken = Player(setting).play(moves)
    assume(woken.machine.record().deadline_turn is None)  # one that sleeps past its timer is not asked any more
    assert woken.effects == Player(setting, wakes=False).play(moves).effects


@given(SETTINGS, HISTORIES)
def test_r02_new_bytes_are_never_withheld(setting, moves):
    seen = set()
    for event, call, effect in results(Player(setting).play(moves)):
        identity = call.tool, call.arguments, event.result
        if identity not in seen:
            assert effect.verdict is Verdict.DELIVER
            assert effect.repeats is None
        if call.tool_class is ToolClass.READ and event.ok and not event.own_notice and effect.unjudged is None:
            seen.add(identity)


@given(SETTINGS, HISTORIES)
def test_r04_full_delivery_exactly_within_both_allowances(setting, moves):
    limits = setting.limits
    for _, _, effect in results(Player(setting).play(moves)):
        if effect.repeats is None:
            assert effect.verdict is Verdict.DELIVER
        else:
            within = effect.repeats <= limits.repeat_streak and effect.cross_result <= limits.unchanged_re_reads
            assert effect.verdict is (Verdict.DELIVER_WITH_NOTICE if within else Verdict.NOTICE_ONLY)
            assert effect.first_turn <= effect.turn


@given(SETTINGS, HISTORIES)
def test_r10_only_a_new_successful_progress_call_resets(setting, moves):
    done = set()
    cross = 0
    for event, call, effect in results(Player(setting).play(moves)):
        if effect.repeats is not None:
            cross += 1
            assert effect.cross_result == cross
        elif call.tool_class is ToolClass.PROGRESS and event.ok and not event.own_notice:
            if call.arguments is None or (call.tool, call.arguments) not in done:
                cross = 0
            done.add((call.tool, call.arguments))


@given(SETTINGS, HISTORIES)
def test_r12_after_a_compaction_each_known_result_is_free_once(setting, moves):
    player = Player(unbounded(setting)).play([*without_ends(moves), Compacted()])
    known = {(call.tool, call.arguments, event.result) for event, call, e in results(player) if is_known_read(e, event)}
    for number, (tool, arguments, result) in enumerate(sorted(known)):
        for expected in (Verdict.DELIVER, None):
            start = CallStarted(f"again {number}", tool, ToolClass.READ, arguments)
            player.machine.apply(start, player.now_ms)
            said = player.machine.apply(ResultReturned(f"again {number}", result), player.now_ms)
            (effect,) = [effect for effect in said if isinstance(effect, DeliverResult)]
            assert effect.progress is None
            assert (effect.repeats is None) == (expected is Verdict.DELIVER)


def unbounded(setting):
    """The same attempt without bounds, timer and asks: nothing is denied in it."""
    limits = replace(setting.limits, withheld_reads=1_000, tool_call_ceiling=1_000)
    return replace(setting, limits=limits, timer_ms=None, retry_of=None)


def without_ends(moves):
    return [move for move in moves if not isinstance(move, AttemptEnded)]


def is_known_read(effect, event):
    return effect.tool_class is ToolClass.READ and event.ok and not event.own_notice and effect.unjudged is None


@given(SETTINGS, HISTORIES, st.data())
def test_r12a_evicting_every_call_that_delivered_it_frees_a_result_and_no_other(setting, moves, data):
    player = Player(replace(unbounded(setting), max_results=65_536)).play(without_ends(moves))
    reads = {}
    for event, call, effect in results(player):
        if is_known_read(effect, event):
            reads.setdefault((call.tool, call.arguments, event.result), []).append(call.call_id)
    named = {identity: ids for identity, ids in reads.items() if None not in ids}
    assume(named)
    gone = data.draw(st.sampled_from(sorted(named)))
    player.machine.apply(Evicted(tuple(named[gone])), player.now_ms)
    before = player.machine.record().read_evidence
    player.machine.apply(CallStarted("again", gone[0], ToolClass.READ, gone[1]), player.now_ms)
    player.machine.apply(ResultReturned("again", gone[2]), player.now_ms)
    assert player.machine.record().read_evidence == before


@given(SETTINGS, HISTORIES)
def test_r14_one_stop_at_most_and_by_a_bound_only_at_the_end_of_a_turn_with_calls(setting, moves):
    player = Player(setting)
    with_calls = set()
    stops = []
    for event in (event for move in moves for event in player.events_of(move)):
        said = player.tell(event)
        if isinstance(event, (CallStarted, ResultReturned)):  # a late result is looked at like a call of the turn
            with_calls.add(player.machine.turn)
        for stop in (effect for effect in said if isinstance(effect, StopAttempt)):
            stops.append(stop)
            if stop.deadline_turn is None:
                assert isinstance(event, (TurnBegan, TurnEnded, CallStarted, AnswerReturned, AttemptEnded))
                assert stop.turn in with_calls
            else:
                assert player.now_ms >= setting.timer_ms
    assert len(stops) <= 1


@given(SETTINGS, HISTORIES)
def test_r16_after_a_stop_every_new_call_is_denied(setting, moves):
    stopped = False
    for event, _, effects in steps(Player(setting).play(moves)):
        stopped = stopped or any(isinstance(effect, StopAttempt) for effect in effects)
        if stopped and isinstance(event, CallStarted) and event.mark is None:
            assert DenyCall(event.call, event.tool, effects[-1].turn, Denial.STOPPED) == effects[-1]


@given(SETTINGS, HISTORIES)
def test_r16_an_answer_always_counts(setting, moves):
    player = Player(setting).play(moves)
    assume(not player.closed)
    stop = player.machine.stop
    player.tell(TurnBegan())
    said = player.tell(AnswerReturned(valid=True))
    assert said[-1] == EvaluateAnswer(player.machine.turn, valid=True)
    record = player.machine.record()
    assert record.outcome is Outcome.ANSWERED
    assert record.code is None
    if stop is not None:
        assert record.stop is not None
        assert record.stop.code is stop.code
        assert not record.stop.retry_granted


@given(SETTINGS, HISTORIES)
def test_r19_r22_after_an_ask_nothing_runs_but_one_submit_a_turn(setting, moves):
    player = Player(setting)
    submits = set()
    for event in (event for move in moves for event in player.events_of(move)):
        said = player.tell(event)
        asked, turn = player.machine.asked, player.machine.turn
        if not isinstance(event, CallStarted):
            continue
        ran = not any(isinstance(effect, DenyCall) for effect in said)
        if asked and ran and event.mark is None:
            assert event.tool == SUBMIT_TOOL
            assert setting.step.answer_path is AnswerPath.TOOL_CALL
            assert asked.trigger is not Trigger.READ_LOOP
            assert turn not in submits
        if event.tool == SUBMIT_TOOL:
            submits.add(turn)


@given(SETTINGS, HISTORIES)
def test_r20_r22_one_ask_at_most_and_only_of_a_read_only_step(setting, moves):
    player = Player(setting).play(moves)
    asks = [effect for effect in player.effects if isinstance(effect, AskForAnswer)]
    assert len(asks) <= (setting.step.kind is StepKind.READ_ONLY)
    for ask in asks:
        if ask.trigger is Trigger.READ_LOOP:
            assert setting.retry_of is not None
        else:
            assert setting.timer_ms is not None
        assert ask.turn >= 1


@given(SETTINGS, HISTORIES)
def test_a_refused_event_leaves_the_whole_state(setting, moves):
    player = Player(setting).play(moves)
    machine = player.machine
    refused = [(result_of_nobody(), 10**9), (started_again(player), 10**9), (TurnBegan(), -1), ("no event", 0)]
    if player.closed:
        refused += [(event, 10**9) for event, _ in player.told]
    before = whole_state(machine)
    for event, at_ms in refused:
        if event is None:
            continue
        try:
            machine.apply(event, at_ms)
        except RefusedEvent:
            assert whole_state(machine) == before
        else:
            raise AssertionError(event)
