"""Real agents of real frameworks under the live processor, and their spans replayed: the same verdicts."""

import pytest

from tests.frameworks.environments import run_in
from tests.frameworks.expected import differences
from tests.frameworks.variants import VARIANTS

pytestmark = pytest.mark.framework


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_captures_made_anew_are_judged_live_and_replayed_as_the_script_says(variant, tmp_path):
    run_in(
        variant.framework,
        "tests.frameworks.record",
        variant.framework,
        variant.name,
        str(tmp_path),
        **dict(variant.environment),
    )
    assert differences(variant, tmp_path) == []
