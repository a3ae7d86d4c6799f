"""Everything this package raises on purpose.

::

    DocsfabError (Exception)
    ├── ConfigError            a setting is wrong; says which, its value and where it came from
    │   └── LimitError         a limit's value is out of range
    ├── RefusedEvent           the attempt machine cannot take this event now; its state is unchanged
    ├── AttemptClosed          the attempt has ended; open another
    └── InputError             a file or stream given to a command cannot be read
        └── NotATrace          it can be read, but is no trace
    AttemptStopped (BaseException)   ends an agent's run after a stop; agent loops swallow Exception
"""

from __future__ import annotations


class DocsfabError(Exception):
    """Base of the errors of this package."""


class ConfigError(DocsfabError):
    """A setting cannot be used."""


class LimitError(ConfigError):
    """A limit's value is out of its range.

    Attributes:
        name: Dotted limit name, such as ``execution.readLoopRepeatStreak``.
        value: The refused value as it was given.
        source: Where it came from, such as ``environment DOCSFAB_...``.
        allowed: The range in words.
    """

    def __init__(self, name: str, value: object, source: str, allowed: str) -> None:
        """Keep the parts and make the sentence."""
        self.name, self.value, self.source, self.allowed = name, value, source, allowed
        shown = repr(value)
        if len(shown) > 80:  # noqa: PLR2004 - a limit that needs more is no limit
            shown = shown[:77] + "..."
        super().__init__(f"{name} = {shown} (from {source}) is refused: give {allowed}")


class RefusedEvent(DocsfabError):  # noqa: N818 - what happened, in the words of the rules
    """The attempt machine cannot take this event in its present state."""


class AttemptClosed(DocsfabError):  # noqa: N818 - a state
    """The attempt has ended."""


class InputError(DocsfabError):
    """A file or stream cannot be read."""


class NotATrace(InputError):  # noqa: N818 - a finding
    """A file can be read but holds no trace in a known format."""


class AttemptStopped(BaseException):
    """The attempt was stopped and its run must end.

    A ``BaseException``, because agent loops swallow ``Exception``.

    Attributes:
        code: The stop's code (SPEC section 8).
        message: The stop's message up to ``count.``, without tool or path (R27).
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep the code and the message."""
        self.code, self.message = code, message
        super().__init__(message)
