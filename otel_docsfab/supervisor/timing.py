"""How time reaches an attempt that has a timer: live by its clock's alarm, in a recording by its events' times."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from otel_docsfab.core import AttemptMachine, Event, OutputStarted, RequestEnded, RequestSent, TimePassed
from otel_docsfab.supervisor.clock import Clock
from otel_docsfab.supervisor.scheduler import Alarm, Sleeper

_NEVER: Final = sys.maxsize
_CLOSE_MS: Final = 1_000
"""How far two clocks that nobody stepped may be apart, ms."""
_OF_REQUESTS: Final = (RequestSent, OutputStarted, RequestEnded)


class News(NamedTuple):
    """Something that happened and is only now seen, on a span that is still open.

    Attributes:
        event: What happened.
        unix_ms: When, by the wall clock, ms since the epoch.
    """

    event: Event
    unix_ms: int


class Moment(NamedTuple):
    """An event for the machine.

    Attributes:
        event: What happened.
        at_ms: When, ms since the attempt began; 0 for as soon as it can be.
    """

    event: Event
    at_ms: int


class Timing:
    """The clock's side of one attempt. All but ``arm`` and ``disarm`` are called under the attempt's lock.

    Attributes:
        news: Where a span driver looks for what happened on open spans; None when there is none.
        request_out: Whether a request is out of which somebody tells more than that it went out.
        due_ms: Before an event of this time or later, ms since the attempt began, ``catch_up`` is called.
    """

    __slots__ = (
        "_alarm",
        "_began_ms",
        "_began_unix_ms",
        "_clock",
        "_machine",
        "_recorded",
        "_requests_told",
        "due_ms",
        "news",
        "request_out",
    )

    def __init__(
        self, machine: AttemptMachine, clock: Clock, began_ms: int, began_unix_ms: int, *, recorded: bool
    ) -> None:
        """Set no alarm yet.

        Args:
            machine: The attempt's.
            clock: Its clock.
            began_ms: When the attempt began, ms of the monotonic clock.
            began_unix_ms: The same by the wall clock, ms since the epoch.
            recorded: Its driver tells the time of each event; the clock is not looked at.
        """
        self._machine = machine
        self._clock = clock
        self._began_ms = began_ms
        self._began_unix_ms = began_unix_ms
        self._recorded = recorded
        self._alarm: Alarm | None = None
        self._requests_told = False
        self.news: Callable[[], list[News]] | None = None
        self.request_out = False
        self.due_ms = 0 if recorded else _NEVER

    def arm(self, sleeper: Sleeper) -> None:
        """Set the alarm for the next time at which time alone changes something, if there is one.

        An alarm that comes too early does no harm; that is why it is set again only when it went off.

        Raises:
            RuntimeError: The clock has no thread for it.
        """
        if self._recorded:
            return
        due_ms = self._machine.next_wakeup_ms()
        self.due_ms = _NEVER if due_ms is None else due_ms
        self._alarm = None if due_ms is None else self._clock.set_alarm(sleeper, self._began_ms + due_ms)

    def disarm(self) -> None:
        """Take the alarm back: the attempt is over."""
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            alarm.unset()

    def catch_up(self, at_ms: int) -> Iterator[Moment]:
        """What comes before an event of ``at_ms``, when that is not before ``due_ms``.

        In a recording, time alone comes first, each at its own moment; live, the news of open spans do: the alarm may
        be late, and the event must not be judged without them. Each moment is to be told before the next is asked for.

        Args:
            at_ms: Ms since the attempt began.
        """
        if not self._recorded:
            yield from self._news(at_ms)
            yield from self._unknown_request()
            return
        while (due_ms := self._machine.next_wakeup_ms()) is not None and due_ms <= at_ms:
            yield from self._unknown_request()
            yield Moment(TimePassed(), due_ms)

    def woken(self) -> Iterator[Moment]:
        """The alarm went off: what happened on open spans, then the time."""
        yield from self.look()
        yield from self._unknown_request()
        yield Moment(TimePassed(), self._now_ms())

    def look(self) -> Iterator[Moment]:
        """What happened on open spans."""
        return self._news(self._now_ms())

    def _now_ms(self) -> int:
        return max(0, self._clock.monotonic_ms() - self._began_ms)

    def _news(self, now_ms: int) -> Iterator[Moment]:
        for event, unix_ms in self.news() if self.news is not None else ():
            self.heard(event)
            yield Moment(event, self._past_ms(unix_ms, now_ms))

    def heard(self, event: Event) -> None:
        """Somebody has told something; note what it says of requests."""
        if isinstance(event, _OF_REQUESTS):
            self._requests_told = True
            self.request_out = isinstance(event, OutputStarted) or (
                isinstance(event, RequestSent) and event.output_visible
            )

    def _unknown_request(self) -> Iterator[Moment]:
        """Where nobody tells of requests, one may be out whenever no call is running: that is ``streaming`` (R23)."""
        if not self._requests_told:
            yield Moment(RequestEnded() if self._machine.running else RequestSent(output_visible=False), 0)

    def _past_ms(self, unix_ms: int, now_ms: int) -> int:
        """When something happened, ms since the attempt began.

        The wall clock may have stepped meanwhile: before the event, after it, or not at all. The reading that lies
        within the attempt counts; when none does, it is taken for older than everything else that is known.
        """
        by_start = unix_ms - self._began_unix_ms
        stepped = self._clock.unix_ms() - self._began_unix_ms - now_ms
        for past_ms in (by_start - stepped, by_start):
            if -_CLOSE_MS < past_ms < now_ms + _CLOSE_MS:
                return min(max(0, past_ms), now_ms)
        return 0
