from __future__ import annotations

import pytest

from tests.frameworks.enforce.bars import LOOPED, STOPPED, Bars

pytestmark = pytest.mark.framework


class TestGoogleADK(Bars):
    environment = "google_adk"
    module = "google_adk_stories"

    def test_models_that_give_no_call_ids_are_stopped_too(self, facts):
        told = facts["without-ids"]
        assert (told["stop"], told["verdicts"]) == (STOPPED, LOOPED)

    def test_r12a_evictions_are_found_without_call_ids(self, facts):
        assert facts["eviction-without-ids"]["verdicts"] == facts["eviction"]["verdicts"]
