# SPDX-License-Identifier: MIT
"""What all tests have in common: where they apply, and that none depends on how fast a machine is.

A test that is about something that not every platform has says so,
``@pytest.mark.applies(condition, reason="...")``, and is not selected where the condition is false. One that holds more
input against what another test has shown is ``thorough``: for CI, or ``-m thorough``. Where all must be there, as in
CI, a skipped test is a failure.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_builder import pack_glb
from gltf_reference import opened, opened_bytes
from gltf_validity import check_content
from hypothesis import HealthCheck, settings
from reference import IS_EXTENDED, REAL

import sbs
from sbs.formats.gltf.output import Output
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
    config.addinivalue_line("markers", "damaged: files that break rules of glTF are kept as they are")
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


@pytest.fixture(autouse=True)
def _check_written_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every GLB that a test writes keeps the rules of glTF, unless it is made of one that breaks them."""
    if request.node.get_closest_marker("damaged"):
        return
    to_bytes = Output.to_bytes

    def checked(output: Output) -> bytes:
        data = to_bytes(output)
        check_content(*opened_bytes(data))
        return data

    monkeypatch.setattr(Output, "to_bytes", checked)


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
    content, data = opened(Path(sbs.__file__).parent / "characters" / "data" / "hand.glb")
    accessor = content["accessors"][content["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]]
    start = content["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
    buffer = bytearray(data)
    np.ndarray((accessor["count"], 4), "<f4", buffer, start)[[3, 7]] = 0.0
    (tmp_path / "damaged.glb").write_bytes(pack_glb(json.dumps(content).encode(), bytes(buffer)))
    return tmp_path / "damaged.glb"
