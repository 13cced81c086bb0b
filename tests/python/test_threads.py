# SPDX-License-Identifier: MIT
"""One skin in many threads, in forked children, and without the global interpreter lock."""

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from meshes import skin_arguments, skinning_matrices

import sbs
from sbs.options import MethodOptions

forks = pytest.mark.applies(hasattr(os, "fork"), reason="Windows has no fork")

METHODS: list[MethodOptions] = [
    {"method": "rigid"},
    {"method": "linear"},
    {"method": "spherical"},
    {"method": "dual_quaternion"},
    {"rotation": "average"},
    {"center": "weighted"},
    {"rotation": "average", "center": "optimized"},
]


@pytest.fixture(scope="module", params=[np.float32, np.float64])
def skin(request: pytest.FixtureRequest) -> sbs.Skin:
    """A skin that is large enough for several threads to share the work."""
    arguments = skin_arguments(60_000, 6, 4, request.param, normals=True)
    return sbs.Skin(**arguments, centers=arguments["rest_positions"] / 2)


@pytest.mark.parametrize("method", METHODS)
def test_number_of_threads_changes_no_bit(skin: sbs.Skin, method: MethodOptions) -> None:
    matrices = skinning_matrices(6)
    expected = [array.tobytes() for array in skin.deform(matrices, **method, normals=True, threads=1)]
    for threads in (2, 3, 8, None):
        actual = skin.deform(matrices, **method, normals=True, threads=threads)
        assert [array.tobytes() for array in actual] == expected, threads


@pytest.mark.parametrize("threads", [1, 2, None])
def test_eight_threads_share_a_skin(skin: sbs.Skin, threads: int | None) -> None:
    """Each with poses and methods of its own, all at once, several times."""
    poses = skinning_matrices(8, 6)
    start = threading.Barrier(8)

    def deform(number: int) -> list[bytes]:
        start.wait()
        return [
            skin.deform(poses[(number + i) % 8], **METHODS[i % len(METHODS)], threads=threads).tobytes()
            for i in range(8)
        ]

    with ThreadPoolExecutor(8) as executor:
        results = list(executor.map(deform, range(8)))
    for number, result in enumerate(results):
        for i, positions in enumerate(result):
            assert positions == skin.deform(poses[(number + i) % 8], **METHODS[i % len(METHODS)], threads=1).tobytes()


def test_number_of_threads_is_a_setting() -> None:
    usual = sbs.get_threads()
    try:
        sbs.set_threads(3)
        assert sbs.get_threads() == 3
        with pytest.raises(ValueError, match="threads must be None or at least 1, not 0"):
            sbs.set_threads(0)
        with pytest.raises(TypeError, match="threads must be None or an integer"):
            sbs.set_threads("2")  # type: ignore[arg-type]  # is refused
        assert sbs.get_threads() == 3
    finally:
        sbs.set_threads(None)
    assert sbs.get_threads() == usual


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7),
        ("999999999999999999999999", 256),
        *((bad, None) for bad in ("", "0", "two")),
        *(pytest.param(bad, None, marks=pytest.mark.thorough) for bad in ("-2", "2 ")),
    ],
)
def test_number_of_threads_by_the_environment(value: str, expected: int | None) -> None:
    """Only whole numbers from 1 are taken; others are told."""
    code = f"import sys; sys.path[:] = {[*sys.path]!r}; import sbs; print(sbs.get_threads())"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SBS_THREADS": value},
        check=True,
        capture_output=True,
        text=True,
    )
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert int(result.stdout) == (expected or processors)
    warning = f"SBS_THREADS is {value!r}, not a whole number from 1, and not taken" if value and not expected else ""
    assert warning in result.stderr
    assert bool(warning) == bool(result.stderr)


def test_lock_is_released(skin: sbs.Skin) -> None:
    """Another thread runs while this one deforms, though Python itself would not switch to it for a long time."""
    matrices = np.tile(skinning_matrices(6), (50, 1, 1, 1))
    events = []
    ready, go = threading.Event(), threading.Event()

    def other() -> None:
        ready.set()
        go.wait()
        events.append("other")

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=other)
    thread.start()
    ready.wait()
    try:
        sys.setswitchinterval(1000.0)
        go.set()
        skin.deform_many(matrices, threads=1)
        events.append("deformed")
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert events == ["other", "deformed"]


def run_alone(program: str) -> None:
    """Run in a process of its own, so that a hang ends; Python warns of any fork beside threads, ours included."""
    start = f"""
import sys; sys.path[:] = {[*sys.path]!r}
from meshes import skin_arguments, skinning_matrices
import sbs
skin = sbs.Skin(**skin_arguments(60_000))
"""
    code = start + textwrap.dedent(program)
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], check=True, timeout=120)


@forks
def test_fork_after_threads() -> None:
    """Threads do not survive a fork; the child starts its own."""
    run_alone("""
        import os
        matrices = skinning_matrices(3, 6)
        expected = skin.deform_many(matrices, threads=4).tobytes()
        child = os.fork()
        if child == 0:
            same = skin.deform_many(matrices, threads=4).tobytes() == expected
            os._exit(0 if same else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert skin.deform_many(matrices, threads=4).tobytes() == expected
    """)


@forks
def test_fork_of_multiprocessing() -> None:
    run_alone("""
        import multiprocessing
        def deform(matrices):
            return skin.deform(matrices).tobytes()
        poses = list(skinning_matrices(4, 6))
        expected = [deform(pose) for pose in poses]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(deform, poses) == expected
    """)
