"""The page on time: its example runs, and its words are the ones that are used."""

from __future__ import annotations

import re
from pathlib import Path

from otel_docsfab.core import DeadlineTurn, Output
from otel_docsfab.spans import attributes as names

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "time.md").read_text()


def test_the_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope = {}
    exec(compile(example, "time.md", "exec"), scope)  # noqa: S102 - our own page
    assert scope["attempt"].record().outcome == "answered"


def test_it_names_every_position_kind_and_event():
    words = {*DeadlineTurn, *Output, names.REQUEST_SENT, names.OUTPUT_STARTED, names.REQUEST_ENDED}
    assert [word for word in words if word not in PAGE] == []
