"""Each bar is held in every way of running that the runtime has: ``mode``, and ``waiting`` for those that wait."""

from __future__ import annotations


def pytest_generate_tests(metafunc):
    modes = getattr(metafunc.cls, "modes", ())
    if "mode" in metafunc.fixturenames:
        metafunc.parametrize("mode", modes)
    if "waiting" in metafunc.fixturenames:
        metafunc.parametrize("waiting", [mode for mode in modes if mode != "stream"])
