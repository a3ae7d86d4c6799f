"""Which tools read, which make progress; everything else is neutral (SPEC section 1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from otel_docsfab.core.codes import ToolClass

READ_TOOLS = frozenset(
    {
        "read",
        "grep",
        "find",
        "ls",
        "docsfab_recall_tool_result",
        "docsfab_list_sources",
        "docsfab_read_source",
        "docsfab_search_sources",
        "get_section",
        "docsfab_history_blame",
        "docsfab_history_diff",
        "docsfab_history_log",
        "docsfab_history_search",
        "docsfab_history_show",
    }
)
PROGRESS_TOOLS = frozenset(
    {
        "edit",
        "write",
        "canon_propose_claim",
        "canon_conflict_gap",
        "canon_submit_artifact",
        "validate_quality_candidate",
    }
)
SUBMIT_TOOL = "submit_quality_evaluation"
"""The one tool that still runs after a deadline ask on the tool-call answer path (R22)."""


class Classified(NamedTuple):
    """What a toolset makes of a call.

    Attributes:
        tool_class: Read, progress or neutral.
        arguments: The part of the arguments that belongs to the result identity; the arguments as given by default. A
            shell rule, say, leaves out a time-out.
        reason: Why, for people.
    """

    tool_class: ToolClass
    arguments: object
    reason: str


class Toolset(Protocol):
    """Classes calls. Implementations are pure and may be asked from any thread."""

    def classify(self, tool: str, arguments: object = None) -> Classified:
        """Class one call.

        Args:
            tool: Tool name as the runtime gives it.
            arguments: Parsed arguments (a mapping as a rule), a text, or None when they are not known.

        Returns:
            The class, the identity's arguments and the reason.
        """
        ...


class NamedTools:
    """A toolset by exact names; the default is the source's own list.

    Source: SPEC section 1.
    """

    __slots__ = ("_classes",)

    def __init__(self, read: Collection[str] = READ_TOOLS, progress: Collection[str] = PROGRESS_TOOLS) -> None:
        """Build the table; a name in both counts as progress."""
        self._classes = dict.fromkeys(read, ToolClass.READ)
        self._classes.update(dict.fromkeys(progress, ToolClass.PROGRESS))

    def classify(self, tool: str, arguments: object = None) -> Classified:
        """Class a call by its tool name."""
        tool_class = self._classes.get(tool)
        if tool_class is None:
            return Classified(ToolClass.NEUTRAL, arguments, "no rule names this tool")
        return Classified(tool_class, arguments, "tool name")


DOCSFAB_TOOLS = NamedTools()
"""The source's own toolset."""
