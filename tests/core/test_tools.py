"""SPEC section 1: tool classes."""

from otel_docsfab.core import NamedTools, ToolClass
from tests.core.attempts import DOCSFAB_TOOLS


def test_names_are_exact():
    for name in ("Read", "read ", "reads", "", "docsfab_read"):
        assert DOCSFAB_TOOLS.classify(name).tool_class is ToolClass.NEUTRAL


def test_the_sets_are_configurable_and_a_name_in_both_makes_progress():
    tools = NamedTools(read={"view", "both"}, progress={"both"})
    assert tools.classify("view").tool_class is ToolClass.READ
    assert tools.classify("both").tool_class is ToolClass.PROGRESS
    assert tools.classify("read").tool_class is ToolClass.NEUTRAL


def test_the_arguments_stay_as_they_are_and_a_reason_is_given():
    arguments = {"path": "a"}
    classified = DOCSFAB_TOOLS.classify("read", arguments)
    assert classified.arguments is arguments
    assert classified.reason
    assert DOCSFAB_TOOLS.classify("bash").reason != classified.reason
