# SPDX-License-Identifier: MIT
"""What all tests have in common: where they apply, and that none depends on how fast a machine is.

A test that is about something that not every platform has says so,
``@pytest.mark.applies(condition, reason="...")``, and is not selected where the condition is false. One that holds more
input against what another test has shown is ``thorough``: for CI, or ``-m thorough``. Where all must be there, as in
CI, a skipped test is a failure.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from reference import IS_EXTENDED, REAL

import sbs
from sbs.skinning.gpu.deformer import default_device
from sbs.support.extras import MissingExtraError

# The same examples every time, whatever the speed of the machine.
settings.register_profile("same", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("same")
# For `--hypothesis-profile`: other examples each time, as CI looks for, and fewer where a processor is emulated.
settings.register_profile("search", settings.get_profile("same"), derandomize=False)
settings.register_profile("emulated", settings.get_profile("same"), max_examples=10)


# PyTorch takes gigabytes: its tests are for where it is installed, as .ci/run does for `make test`.
collect_ignore = [] if importlib.util.find_spec("torch") else ["test_torch.py"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "applies(condition, reason): what a test is about is there")
    config.addinivalue_line("markers", "thorough: more input for what another test has shown, in CI alone")


def pytest_report_header() -> str:
    than = "more than double has" if IS_EXTENDED else "as double: tolerances allow for what the reference loses"
    return f"reference: long double with eps {np.finfo(REAL).eps:.1e}, {than}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_thorough = bool(os.environ.get("CI")) or "thorough" in config.option.markexpr

    def applies(item: pytest.Item) -> bool:
        conditions = all(mark.args[0] for mark in item.iter_markers("applies"))
        return conditions and (is_thorough or item.get_closest_marker("thorough") is None)

    left_out = [item for item in items if not applies(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where all must be there, a skipped test is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")  # workers of xdist have none
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def device() -> Any:
    """The graphics processor, or what Mesa has in place of one."""
    try:
        return default_device()
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.fixture
def damaged_hand(tmp_path: Path) -> Path:
    """The hand that comes with the package, in a file in which vertices 3 and 7 have no weights."""
    hand = sbs.samples.load("hand")
    assert hand.source is not None  # written into the file that it is from, it gets no joint for them
    with pytest.warns(sbs.WeightWarning):
        hand = hand.with_weights([[0]] * 2, [[0.0]] * 2, vertices=[3, 7])
    hand.save(tmp_path / "damaged.glb")
    return tmp_path / "damaged.glb"
