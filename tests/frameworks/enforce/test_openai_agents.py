from __future__ import annotations

import pytest

from tests.frameworks.enforce.bars import CONTENT, LOOPED, NOTICE, Bars

pytestmark = pytest.mark.framework


class TestOpenAIAgents(Bars):
    environment = "openai_agents"
    module = "openai_agents_stories"

    def test_a_handoff_stays_in_the_attempt(self, facts):
        [attempt] = facts["handoff"]["attempts"]
        assert attempt["verdicts"] == {"deliver": 1, "deliver-with-notice": 1}

    def test_where_the_server_keeps_the_conversation_nothing_is_withheld(self, facts):
        told = facts["blind"]
        assert told["verdicts"] == LOOPED[:12]
        assert self.received(told["requests"][-1], 12) == [CONTENT, NOTICE]

    def test_unless_it_is_told_to(self, facts):
        told = facts["blind-told"]
        assert told["verdicts"] == LOOPED[:12]
        assert self.received(told["requests"][12], 12) == [NOTICE]

    def test_strict_refuses_such_a_run(self, facts):
        assert "ConfigError('openai_agents lacks levers (compaction" in facts["blind-told"]["more"]["strict"]
