from __future__ import annotations

import pytest

from tests.frameworks.enforce.bars import Bars

pytestmark = pytest.mark.framework


class TestPydanticAI(Bars):
    environment = "pydantic_ai"
    module = "pydantic_ai_stories"
    beside = True
