"""``instrument()``: a supervisor and its processor on the application's TracerProvider, with one call.

The provider may be there already or come later. OpenTelemetry's API tells nobody that the global provider was set, so
until it is, the one function that every way of setting it goes through is wrapped; the wrapper takes itself away with
the first provider and changes neither arguments, result nor errors. Spans of before have no provider and are lost
anyway. Nothing else of OpenTelemetry is touched, and a provider is never set for the application.

The SDK cannot remove a processor: what is added is a ``Slot``, which ``uninstrument()`` empties and the next
``instrument()`` on the same provider fills again.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from otel_docsfab import config
from otel_docsfab.config import Mode
from otel_docsfab.core import Limits, Toolset
from otel_docsfab.errors import ConfigError, DocsfabError
from otel_docsfab.gate import hooks
from otel_docsfab.spans.processor import ReadLoopSpanProcessor
from otel_docsfab.supervisor import Sink, Site, Supervisor

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from otel_docsfab.supervisor.decisions import OnDecision

INTERRUPT_VARIABLE: Final = "OTEL_DOCSFAB_INTERRUPT"

_log = logging.getLogger("otel_docsfab")


class Slot(SpanProcessor):
    """The place of the processor on a provider; does nothing while it is empty."""

    def __init__(self) -> None:
        """Begin empty."""
        self.processor: ReadLoopSpanProcessor | None = None

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Pass on."""
        if self.processor is not None:
            self.processor.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        """Pass on."""
        if self.processor is not None:
            self.processor.on_end(span)

    def shutdown(self) -> None:
        """Pass on."""
        if self.processor is not None:
            self.processor.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Pass on."""
        return self.processor is None or self.processor.force_flush(timeout_millis)


class _Instrumented:
    """What one ``instrument()`` put in place, and how it is taken away again."""

    def __init__(self, supervisor: Supervisor, given: Mapping[str, Any], *, own: bool, interrupt: bool) -> None:
        self.supervisor = supervisor
        self.given = given
        self._own = own
        self._processor = ReadLoopSpanProcessor(supervisor, interrupt=interrupt)
        self._slot: Slot | None = None
        self._undo: list[Callable[[], object]] = []

    def put(self, provider: Any) -> None:
        """Watch this provider, or the global one when None is given: now, or when it is set."""
        if provider is None:
            stop_following = _follow(self._provider_set)
            provider = trace.get_tracer_provider()
            if isinstance(provider, trace.ProxyTracerProvider):
                self._undo.append(stop_following)
                return
            stop_following()
        self._attach(provider)

    def enforce(self) -> None:
        """Install the hooks of the frameworks that are there."""
        install = getattr(hooks, "install", None)
        if install is None:
            _log.warning("otel-docsfab: there are no framework hooks in this version; it observes")
            return
        self._undo.append(getattr(hooks, "uninstall", _nothing))
        try:
            install(self.supervisor)
        except DocsfabError:
            raise
        except Exception as error:  # noqa: BLE001 - foreign frameworks; what they raise must not reach the host
            self.supervisor.faults.count(Site.HOOK, error, "Calls are watched, not gated.")

    def take_away(self) -> None:
        """Leave everything as it was."""
        for undo in self._undo:
            try:
                undo()
            except Exception as error:  # noqa: BLE001 - foreign frameworks, as in enforce
                self.supervisor.faults.count(Site.HOOK, error)
        if self._slot is not None:
            self._slot.processor = None
        if self._own:
            self.supervisor.shutdown()

    def _provider_set(self) -> None:
        """The global provider was set; hurts nobody."""
        try:
            with _lock:
                if _current is self:
                    self._attach(trace.get_tracer_provider())
        except Exception as error:  # noqa: BLE001 - in the middle of the host's set-up
            self.supervisor.faults.count(Site.PROCESSOR, error)

    def _attach(self, provider: Any) -> None:
        if self._slot is not None:
            return
        if not hasattr(provider, "add_span_processor"):
            _log.warning(
                "otel-docsfab: %s takes no span processors, so nothing is watched; opentelemetry-sdk's does",
                type(provider).__name__,
            )
            return
        self._slot = _slot_of(provider)
        self._slot.processor = self._processor


_lock = threading.RLock()
_current: _Instrumented | None = None
_slots: list[tuple[weakref.ref[Any], Slot]] = []


def instrument(  # noqa: PLR0913 - one keyword for each thing that can be set
    on_decision: OnDecision | None = None,
    mode: str | None = None,
    *,
    limits: Mapping[str, int] | Limits | None = None,
    toolset: Toolset | str | Mapping[str, Any] | None = None,
    steps: Mapping[str, Any] | None = None,
    agents: Mapping[str, Mapping[str, Any]] | None = None,
    sinks: Iterable[Sink] | None = None,
    settings_file: str | os.PathLike[str] | None = None,
    interrupt: bool | None = None,
    supervisor: Supervisor | None = None,
    tracer_provider: Any = None,
) -> Supervisor:
    """Watch, or in enforce mode also gate, the agents of this process.

    Works before and after the TracerProvider is set. Called again with the same arguments, or with none, it changes
    nothing; with others it starts anew and gives up the attempts that are open.

    Args:
        on_decision: Called with each ``Decision``; plain or async.
        mode: ``off`` installs nothing, ``observe`` the processor, ``enforce`` the framework hooks besides. By default
            what ``OTEL_DOCSFAB_MODE`` or a settings file says, else ``observe``; the variable can only lower it.
        limits: Dotted names to values, or ``Limits``; over what files and environment say.
        toolset: A toolset, a profile's name, or a mapping in the shape of ``[toolset]``.
        steps: Steps by id.
        agents: By agent name, what it does otherwise.
        sinks: Where facts go.
        settings_file: TOML file instead of the one that ``OTEL_DOCSFAB_SETTINGS`` names.
        interrupt: As for ``ReadLoopSpanProcessor``; by default what ``OTEL_DOCSFAB_INTERRUPT`` says, else False.
        supervisor: A supervisor of one's own, instead of all the above but ``interrupt``; ``uninstrument()`` leaves it
            open.
        tracer_provider: Provider to watch; the global one by default.

    Returns:
        The supervisor.

    Raises:
        ConfigError: A setting is wrong; then nothing has changed.

    Source: DESIGN section 3.
    """
    global _current  # noqa: PLW0603 - one instrumentation a process is what this function is for
    said = {
        "on_decision": on_decision,
        "mode": mode,
        "limits": limits,
        "toolset": toolset,
        "steps": steps,
        "agents": agents,
        "sinks": sinks,
        "settings_file": settings_file,
    }
    configuring = {name: value for name, value in said.items() if value is not None}
    putting = {"interrupt": interrupt, "supervisor": supervisor, "tracer_provider": tracer_provider}
    given = configuring | {name: value for name, value in putting.items() if value is not None}
    with _lock:
        if _current is not None and (not given or given == _current.given):
            return _current.supervisor
        if supervisor is not None and configuring:
            raise ConfigError(f"instrument: a supervisor has its own {', '.join(configuring)}; give one or the other")
        made = supervisor or _supervisor(configuring)
        fresh = _Instrumented(
            made, given, own=supervisor is None, interrupt=_interrupt() if interrupt is None else interrupt
        )
        uninstrument()
        _current = fresh
        strongest = made.settings.strongest_mode
        try:
            if strongest is not Mode.OFF:
                fresh.put(tracer_provider)
            if strongest is Mode.ENFORCE:
                fresh.enforce()
        except DocsfabError:
            uninstrument()
            raise
        return made


def uninstrument() -> None:
    """Undo ``instrument()``: nothing is watched or gated any more, and the attempts that are open are given up."""
    global _current
    with _lock:
        current, _current = _current, None
        if current is not None:
            current.take_away()


def _supervisor(configuring: dict[str, Any]) -> Supervisor:
    told = {name: configuring.pop(name) for name in ("on_decision", "sinks") if name in configuring}
    return Supervisor(settings=config.load(**configuring, default_mode=Mode.OBSERVE), **told)


def _interrupt() -> bool:
    text = os.environ.get(INTERRUPT_VARIABLE, "").strip().lower()
    if text not in ("", "true", "false"):
        raise ConfigError(
            f"interrupt = {text!r} (from environment {INTERRUPT_VARIABLE}) is refused: give true or false"
        )
    return text == "true"


def _follow(on_set: Callable[[], None]) -> Callable[[], None]:
    """Hear of the global provider being set.

    Returns:
        Ends the following. Where somebody has wrapped the wrapper meanwhile, it stays and only passes on.
    """
    name = "_set_tracer_provider" if hasattr(trace, "_set_tracer_provider") else "set_tracer_provider"
    setter = getattr(trace, name)

    def set_and_tell(*args: Any, **more: Any) -> None:
        setter(*args, **more)
        stop()
        on_set()

    def stop() -> None:
        if getattr(trace, name) is set_and_tell:
            setattr(trace, name, setter)

    setattr(trace, name, set_and_tell)
    return stop


def _slot_of(provider: Any) -> Slot:
    """The slot on a provider, added when it has none."""
    _slots[:] = [entry for entry in _slots if entry[0]() is not None]
    for known, slot in _slots:
        if known() is provider:
            return slot
    slot = Slot()
    provider.add_span_processor(slot)
    _slots.append((weakref.ref(provider), slot))
    return slot


def _nothing() -> None:
    """Undo nothing."""
