from __future__ import annotations

import pytest

from tests.frameworks.enforce.bars import Bars

pytestmark = pytest.mark.framework


class TestLangChain(Bars):
    environment = "langgraph"
    module = "langchain_stories"

    def test_two_prompts_of_a_thread_are_two_attempts(self, facts):
        assert facts["threads"]["verdicts"] == ["deliver", "deliver-with-notice"] * 2
