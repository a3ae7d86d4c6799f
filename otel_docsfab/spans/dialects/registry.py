"""Which dialect reads a span: by scope, by a convention's own attribute, else by asking."""

from __future__ import annotations

import logging
from importlib.metadata import entry_points
from threading import Lock
from typing import Final

from otel_docsfab.spans.dialects.families import FAMILIES, FOREIGN_SCOPES
from otel_docsfab.spans.dialects.family import Dialect, Family
from otel_docsfab.spans.view import SpanView

ENTRY_POINT_GROUP: Final = "otel_docsfab.dialects"
"""Entry points of this group name a dialect, or a callable that makes one."""

_log = logging.getLogger(__name__)


class Registry:
    """Dialects in the order in which they are asked. Registering is rare and locked; reading takes no lock."""

    def __init__(self, dialects: tuple[Dialect, ...] = FAMILIES) -> None:
        self._lock = Lock()
        self._dialects = dialects
        self._scopes: dict[str, Dialect] = {}
        self._always_asked: tuple[Dialect, ...] = ()
        self._marking_keys: frozenset[str] = frozenset()
        self._marking_names: frozenset[str] = frozenset()
        self._loaded = False
        self._reported: set[str] = set()
        self.problems: list[str] = []
        """One line for each plug-in that was skipped or failed, without content."""
        self._index()

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """All dialects, in the order in which they are asked."""
        self.load_plugins()
        return self._dialects

    def register(self, dialect: Dialect, before: str | None = None) -> None:
        """Add a dialect, or put it in the place of the one of its name.

        Args:
            dialect: Its scopes go to it unless a dialect before it has them.
            before: Name of the dialect to ask after it; last when None.

        Raises:
            ValueError: No dialect is called ``before``.
        """
        with self._lock:
            others = [known for known in self._dialects if known.name != dialect.name]
            places = [index for index, known in enumerate(others) if known.name == before]
            if before is not None and not places:
                raise ValueError(f"no dialect is called {before!r}; there are {[known.name for known in others]}")
            others.insert(places[0] if places else len(others), dialect)
            self._dialects = tuple(others)
            self._index()

    def load_plugins(self) -> None:
        """Load the entry points once; a broken one is skipped and reported."""
        if self._loaded:
            return
        self._loaded = True
        for entry in entry_points(group=ENTRY_POINT_GROUP):
            try:
                loaded = entry.load()
                dialect: Dialect = loaded() if isinstance(loaded, type) or not hasattr(loaded, "observe") else loaded
                self.register(dialect)
            except Exception as error:  # noqa: BLE001 - foreign code: whatever it raises must not reach the host
                self.report(entry.name, error)

    def find(self, view: SpanView) -> Dialect | None:
        """The dialect of a span; None for a foreign one."""
        if not self._loaded:
            self.load_plugins()
        scope = view.scope
        dialect = self._scopes.get(scope)
        if dialect is not None:
            return dialect
        if scope in FOREIGN_SCOPES:
            return None
        marked = view.name in self._marking_names or not self._marking_keys.isdisjoint(view.attributes)
        for dialect in self._dialects if marked else self._always_asked:
            if dialect.matches(view):
                return dialect
        return None

    def report(self, name: str, error: Exception) -> None:
        """Say once that a dialect failed, without its words: they may hold content."""
        if name in self._reported:
            return
        self._reported.add(name)
        self.problems.append(f"dialect {name}: {type(error).__name__}")
        _log.warning("docsfab: dialect %s failed with %s; its spans are passed over", name, type(error).__name__)

    def _index(self) -> None:
        scopes: dict[str, Dialect] = {}
        for dialect in self._dialects:
            for scope in dialect.scopes:
                scopes.setdefault(scope, dialect)
        self._scopes = scopes
        families = [dialect for dialect in self._dialects if isinstance(dialect, Family)]
        self._marking_keys = frozenset(key for family in families for key in family.marking_keys)
        self._marking_names = frozenset(name for family in families for name in family.marking_names)
        self._always_asked = tuple(dialect for dialect in self._dialects if not _goes_by_marks(dialect))


def _goes_by_marks(dialect: Dialect) -> bool:
    """Whether a look at the marks of all families together can rule it out: one look for a foreign span."""
    return isinstance(dialect, Family) and type(dialect).matches == Family.matches
