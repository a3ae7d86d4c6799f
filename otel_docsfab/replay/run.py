"""A whole replay: sources to entries of the report, in one process or several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from typing import Any, Final

from otel_docsfab import config
from otel_docsfab.config import Settings
from otel_docsfab.errors import InputError, NotATrace
from otel_docsfab.replay.assemble import WINDOW, Assembler
from otel_docsfab.replay.play import play_session, play_trace
from otel_docsfab.replay.readers import (
    EXPECTED,
    MAX_RECORD_BYTES,
    Format,
    Recording,
    Source,
    find_sources,
    new_attempts,
    read_recording,
)
from otel_docsfab.replay.readers.share import WHOLE, Share
from otel_docsfab.replay.report import TRACE, Notes, attempt_entry
from otel_docsfab.spans.view import RecordedSpan

_PROFILES: Final = {
    Format.CLAUDE_CODE: "claude-code",
    Format.CODEX: "codex",
    Format.OPENCODE: "opencode",
    Format.SWE_AGENT: "swe-agent",
    Format.MINI_SWE_AGENT: "swe-agent",
}
"""The toolset that fits a session file, when nobody chose one."""
_MODE_VARIABLE: Final = "OTEL_DOCSFAB_MODE"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be replayed, and how.

    Attributes:
        paths: Files, folders or ``-``.
        limits: Limits over what is configured, by dotted name.
        profile: Toolset for everything; None for the configured one, or the one that fits a session file.
        shell: How far shell commands are looked into: ``off``, ``reads`` or ``reads-and-writes``; None for all of it in
            session files when the parser is installed, and as configured in traces.
        settings_file: Settings file instead of the environment's.
        with_calls: Whether each call is listed.
        max_record_bytes: Longest line, element or message that is read, bytes.
        window: Spans of other traces through which a trace is waited for.
    """

    paths: tuple[str, ...]
    limits: Mapping[str, int]
    profile: str | None = None
    shell: str | None = None
    settings_file: str | None = None
    with_calls: bool = False
    max_record_bytes: int = MAX_RECORD_BYTES
    window: int = WINDOW


class Replay:
    """Runs one share of a request.

    Args:
        request: What is to be replayed.
        share: The part that this process judges.
        on_bytes: Told how many bytes of files were read.

    Attributes:
        notes: What was noticed beside the attempts.

    Raises:
        ConfigError: A setting is wrong.
    """

    def __init__(self, request: Request, share: Share = WHOLE, on_bytes: Callable[[int], None] | None = None) -> None:
        """Read the settings, so that mistakes show before files are read."""
        self.notes = Notes()
        self._request = request
        self._share = share
        self._on_bytes = on_bytes
        self._seen: set[int] = set()
        self._by_profile: dict[str | None, Settings] = {}
        self._settings(None)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Entries of the report, as attempts come to their end.

        Raises:
            InputError: A named path cannot be opened.
            NotATrace: A named file holds no trace, or nothing in all the folders does.
        """
        request, notes = self._request, self.notes
        assembler = Assembler(request.window)
        found = False
        number = -1
        for number, source in enumerate(find_sources(request.paths, notes.problems)):
            mark = notes.problems.mark()
            recording = self._open(source)
            if recording is None:
                continue
            found = True
            if recording.format in _PROFILES:
                if self._share.owns_file(number):
                    yield from self._session(recording)
                else:
                    notes.problems.rewind(mark)
                continue
            for span in recording.spans:
                if self._share.owns(span.trace_id):
                    for trace in assembler.add(span):
                        yield from self._trace(trace)
        if not found:
            raise NotATrace(f"{', '.join(request.paths)}: no trace among {number + 1} files; {EXPECTED}")
        for trace in assembler.rest():
            yield from self._trace(trace)
        notes.late, notes.cut = assembler.late, assembler.cut

    def _open(self, source: Source) -> Recording | None:
        request, problems = self._request, self.notes.problems
        try:
            return read_recording(
                source, problems, limit=request.max_record_bytes, share=self._share, on_bytes=self._on_bytes
            )
        except InputError as error:
            if not source.from_folder:
                raise
            problems.skip(source.path, str(error).removeprefix(f"{source.path}: ").split(";")[0])
            return None

    def _trace(self, spans: list[RecordedSpan]) -> Iterator[dict[str, Any]]:
        self.notes.traces += 1
        with_calls = self._request.with_calls
        for watched in play_trace(spans, self._settings(None), keep_calls=with_calls):
            self.notes.saw(watched)
            yield attempt_entry(watched, TRACE, trace_id=spans[0].trace_id, with_calls=with_calls)

    def _session(self, recording: Recording) -> Iterator[dict[str, Any]]:
        self.notes.sessions += 1
        events = new_attempts(recording.events, self._seen)
        settings = self._settings(_PROFILES[recording.format])
        for watched in play_session(events, settings, keep_calls=self._request.with_calls):
            self.notes.saw(watched)
            entry = attempt_entry(watched, recording.format, trace_id=None, with_calls=self._request.with_calls)
            if self._share.count > 1 and watched.key is not None:  # a copy may lie in another process's file
                entry["attemptKey"] = int.from_bytes(sha256(watched.key.encode()).digest()[:8])
            yield entry

    def _settings(self, fitting: str | None) -> Settings:
        """The settings for traces (None) or for a session file that a profile fits."""
        known = self._by_profile.get(fitting)
        if known is None:
            known = self._by_profile[fitting] = self._load(fitting)
        return known

    def _load(self, fitting: str | None) -> Settings:
        request = self._request
        environ = {name: value for name, value in os.environ.items() if name != _MODE_VARIABLE}  # a replay stops nobody
        given: dict[str, Any] = {
            "limits": request.limits,
            "limits_source": "option --limits",
            "settings_file": request.settings_file,
            "mode": "observe",
            "environ": environ,
        }
        settings = config.load(**given)
        configured = settings.configured.everywhere.toolset is not None
        profile = request.profile or (None if configured else fitting)
        if profile is None:
            return settings
        shell = request.shell
        if shell is None:
            parser = find_spec("tree_sitter") is not None and find_spec("tree_sitter_bash") is not None
            shell = "reads-and-writes" if parser and fitting else "off"
            self.notes.shell_off = self.notes.shell_off or (fitting is not None and not parser)
        return config.load(**given, toolset={"profile": profile, "shellRules": shell})
