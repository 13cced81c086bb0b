# SPDX-License-Identifier: MIT
"""Frames deformed on a cluster: the same bytes as on one machine, whoever is lost on the way."""

from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from test_parts import dressed

import sbs
from sbs.cli import main
from sbs.formats import Job, bake, bake_on, baking, unfinished
from sbs.options import BlendOptions, Method
from sbs.support import clusters

deform = importlib.import_module("sbs.cli.deform")
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="workers are ended by signals")

HAND = str(resources.files("sbs.characters") / "data" / "hand.glb")
NUMBERS = range(3, 603)
FPS = 700.0


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty chunks of twenty frames."""
    monkeypatch.setattr(baking, "_CHUNK", 20 * 12 * 1360)


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two processes, which are begun again when they end."""
    folder = str(tmp_path_factory.mktemp("workers"))
    with (
        dask.config.set(temporary_directory=folder),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
    ):
        yield cluster


def job(path: Path, hand: sbs.Character, **options: Any) -> Job:
    blend = BlendOptions(**options)  # type: ignore[typeddict-item]
    return Job(path, hand.skin, hand.animations[0], NUMBERS, FPS, blend)


def alone(path: Path, hand: sbs.Character, **options: Any) -> bytes:
    """The bytes that one machine writes."""
    bake(path, hand.skin, hand.animations[0], NUMBERS, fps=FPS, **options)
    return path.read_bytes()


@pytest.mark.parametrize(("suffix", "is_here"), [(".pc2", True), (".mdd", True), (".npy", False)])
def test_a_worker_is_lost(hand: sbs.Character, workers: Any, tmp_path: Path, suffix: str, is_here: bool) -> None:
    """One of two ends in the middle; its chunks are done by the other, and by the one that replaces it."""
    wanted = alone(tmp_path / f"alone{suffix}", hand, center="weighted")
    path = tmp_path / f"hand{suffix}"
    ended: list[int] = []

    def lose(done: int) -> None:
        if done > 100 and not ended:
            ended.append(workers.workers[next(iter(workers.workers))].pid)
            os.kill(ended[0], signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        if not is_here:
            patch.setattr(unfinished.Unfinished, "place", unfinished.Place("/nowhere/a", "/nowhere/b", ""))
        bake_on(workers.scheduler_address, [job(path, hand, center="weighted")], progress=lose)
    assert ended
    assert path.read_bytes() == wanted
    assert {place.name for place in tmp_path.iterdir()} == {f"alone{suffix}", f"hand{suffix}"}


def test_all_workers_are_lost(hand: sbs.Character, workers: Any, tmp_path: Path) -> None:
    """Nobody has the character any more: it is sent again to those that replace them."""
    ended: list[int] = []

    def lose(done: int) -> None:
        if done > 100 and not ended:
            ended.extend(worker.pid for worker in workers.workers.values())
            for pid in ended:
                os.kill(pid, signal.SIGKILL)

    bake_on(workers.scheduler_address, [job(tmp_path / "hand.pc2", hand)], progress=lose)
    assert ended
    assert (tmp_path / "hand.pc2").read_bytes() == alone(tmp_path / "alone.pc2", hand)


@pytest.mark.parametrize("times", [4, 5])
def test_a_worker_is_lost_before_it_has_the_character(
    hand: sbs.Character, workers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """The scheduler then finds out that it does not answer, some of the time."""
    scatter = distributed.Client.scatter
    failures = [OSError("Timed out trying to connect")] * times

    def unreliable(*args: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return scatter(*args, **options)

    monkeypatch.setattr(distributed.Client, "scatter", unreliable)
    path = tmp_path / "hand.pc2"
    if times == 5:
        with pytest.raises(ChildProcessError, match="5 times"):
            bake_on(workers.scheduler_address, [job(path, hand)])
    else:
        bake_on(workers.scheduler_address, [job(path, hand)])
        assert path.read_bytes() == alone(tmp_path / "alone.pc2", hand)


def test_several_characters(hand: sbs.Character, workers: Any, tmp_path: Path) -> None:
    """A crowd by one call, in a client that the caller has; what a worker refuses is told by its words."""
    fox = sbs.load(Path(__file__).parents[1] / "data" / "Fox.glb")
    jobs = [job(tmp_path / "a.pc2", hand), Job(tmp_path / "b.npy", fox.skin, fox.animations[0], range(30), 60)]
    done: list[int] = []
    with distributed.Client(workers, set_as_default=False) as client:
        bake_on(client, jobs, progress=done.append)
        with pytest.raises(ValueError, match=r"amount\[7\]"):
            bake_on(client, [job(tmp_path / "c.pc2", hand, amount=np.where(np.arange(1360) == 7, np.nan, 0.5))])
    assert (done[0], done[-1]) == (0, len(NUMBERS) + 30)
    assert not (tmp_path / "c.pc2").exists()
    assert (tmp_path / "a.pc2").read_bytes() == alone(tmp_path / "alone.pc2", hand)
    matrices = fox.animations[0].skinning_matrices(np.arange(30) / 60)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), fox.skin.deform_many(matrices))
    with pytest.raises(TypeError, match="object"):
        unfinished.digest(object())


def test_the_command_for_many_characters(workers: Any, tmp_path: Path) -> None:
    """Mesh by mesh, on a cluster and here: the same bytes."""
    paths = [dressed().save(tmp_path / f"hero_{number}.glb") for number in range(3)]
    folders = {"there": ["--scheduler", workers.scheduler_address], "here": []}
    for folder, options in folders.items():
        name = str(tmp_path / folder / "{file}_{mesh}.pc2")
        (tmp_path / folder).mkdir()
        command = ["deform", *map(str, paths), "--animation", "bend", "--fps", "100", *options, "-o", name]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
        assert result.output.count("101 frames of 3 vertices") == 6
    found = {path.name: path.read_bytes() for path in (tmp_path / "there").iterdir()}
    assert len(found) == 9
    assert found == {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}


class StopError(Exception):
    """Ends a run."""


def stop_at(frames: int) -> Any:
    def stop(done: int) -> None:
        if done >= frames:
            raise StopError

    return stop


def interrupt(path: Path, hand: sbs.Character, workers: Any, **options: Any) -> set[int]:
    """A run that ends in the middle; the offsets of its chunks that are there."""
    with pytest.raises(StopError):
        bake_on(workers.scheduler_address, [job(path, hand, **options)], progress=stop_at(200))
    assert not path.exists()
    lines = Path(f"{path}.journal").read_text().splitlines()
    return {json.loads(line)[0] for line in lines[1:]}


def resume(path: Path, hand: sbs.Character, workers: Any, **options: Any) -> int:
    """How many frames a run found when it began."""
    done: list[int] = []
    bake_on(workers.scheduler_address, [job(path, hand, **options)], progress=done.append)
    assert done[-1] == len(NUMBERS)
    assert not list(path.parent.glob("*.part")) + list(path.parent.glob("*.journal"))
    return done[0]


@pytest.mark.parametrize(("method", "kept"), [("spherical", 200), ("linear", 0)])
def test_an_interrupted_run_goes_on(
    hand: sbs.Character, workers: Any, tmp_path: Path, method: Method, kept: int
) -> None:
    """With other options it begins anew."""
    path = tmp_path / "hand.pc2"
    assert len(interrupt(path, hand, workers, method="spherical")) == 10
    assert resume(path, hand, workers, method=method) == kept
    assert path.read_bytes() == alone(tmp_path / "alone.pc2", hand, method=method)


@pytest.mark.parametrize(
    ("damage", "kept"),
    [
        (lambda part, journal: journal.write_bytes(journal.read_bytes()[:-3]), 180),
        (lambda part, journal: journal.write_bytes(journal.read_bytes().replace(b"\n", b"]\n", 1)), 0),
        (lambda part, journal: journal.write_bytes(journal.read_bytes() + b'[1, 2, "3", null]\n'), 200),
        (lambda part, journal: journal.write_bytes(journal.read_bytes() + b"[" * 100_000 + b"\n"), 200),
        (lambda part, journal: part.write_bytes(part.read_bytes()[:-1]), 0),
        (lambda part, journal: part.unlink(), 0),
        (lambda part, journal: part.write_bytes(bytes(part.stat().st_size)), 0),
    ],
    ids=["line cut off", "no JSON", "no numbers", "deep", "shorter", "gone", "zeros"],
)
def test_what_is_damaged_is_done_again(
    hand: sbs.Character, workers: Any, tmp_path: Path, damage: Any, kept: int
) -> None:
    """A machine that lost power leaves what it likes."""
    path = tmp_path / "hand.pc2"
    interrupt(path, hand, workers)
    damage(Path(f"{path}.part"), Path(f"{path}.journal"))
    assert resume(path, hand, workers) == kept
    assert path.read_bytes() == alone(tmp_path / "alone.pc2", hand)


def test_two_runs_do_not_write_one_file(hand: sbs.Character, workers: Any, tmp_path: Path) -> None:
    path = tmp_path / "hand.pc2"

    def again(done: int) -> None:
        with pytest.raises(OSError, match=r"another run is writing it: .*hand\.pc2"):
            bake_on(workers.scheduler_address, [job(path, hand)])
        raise StopError

    with pytest.raises(StopError):
        bake_on(workers.scheduler_address, [job(path, hand)], progress=again)


@pytest.mark.applies(os.name != "nt", reason="open files can be removed")
def test_a_run_that_begins_as_another_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens the journal, which the other one then removes: a lock on that would keep nobody away."""
    path, lock = tmp_path / "a.pc2", unfinished._lock

    def late(*arguments: Any) -> None:
        monkeypatch.undo()
        Path(f"{path}.journal").unlink()
        lock(*arguments)

    monkeypatch.setattr(unfinished, "_lock", late)
    other = unfinished.Unfinished(path, "else", 40)
    with unfinished.Unfinished(path, "what", 40), pytest.raises(OSError, match="another run is writing it"):
        other.__enter__()


@pytest.mark.parametrize(
    ("ends", "content"),
    [
        (ends, content)
        for ends in (["part"], ["journal"], ["part", "journal"])
        for content in (b"", b"mine", b'{"identity": 1}\n', b"POINTCACHE2")
        if ends != ["journal"] or content  # an empty journal is left by a run that ends at once
    ],
)
def test_files_of_the_user_are_kept(tmp_path: Path, ends: list[str], content: bytes) -> None:
    names = [tmp_path / f"hand.pc2.{end}" for end in ends]
    for name in names:
        name.write_bytes(content)
    with pytest.raises(OSError, match="move or remove it"), unfinished.Unfinished(tmp_path / "hand.pc2", "what", 40):
        pass
    assert sorted(tmp_path.iterdir()) == sorted(names)
    assert [name.read_bytes() for name in names] == [content] * len(names)


@pytest.mark.applies(os.name != "nt", reason="files have limits")
@pytest.mark.parametrize("is_locked", [False, True])
def test_nothing_is_left_of_a_run_that_can_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    """On a full disk, and on a file system without locks: a part without a journal would be refused for ever."""
    fcntl, resource = pytest.importorskip("fcntl"), pytest.importorskip("resource")

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = unfinished.Unfinished(tmp_path / "hand.pc2", "what", 4000)
    with monkeypatch.context() as patch, pytest.raises(OSError) as failed:
        if is_locked:
            patch.setattr(fcntl, "flock", refuse)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            file.__enter__()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert failed.value.errno == (errno.ENOLCK if is_locked else errno.EFBIG)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("end", ["part", "journal"])
def test_hard_links_are_not_written_through(tmp_path: Path, end: str) -> None:
    path, precious = tmp_path / "hand.pc2", tmp_path / "precious"
    with unfinished.Unfinished(path, "what", 40) as file:
        file.write(0, b"0123")
        file.record(0, 4, 0)
    Path(f"{path}.{end}").rename(precious)
    Path(f"{path}.{end}").hardlink_to(precious)
    before = precious.read_bytes()
    with pytest.raises(OSError, match="move or remove it"), unfinished.Unfinished(path, "else", 50):
        pass
    assert precious.read_bytes() == before


@pytest.mark.parametrize("end", ["part", "journal"])
def test_links_are_not_followed(hand: sbs.Character, workers: Any, tmp_path: Path, end: str) -> None:
    """Somebody else's link, in a folder that all may write to, must not lead to a file of ours."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f"hand.pc2.{end}").symlink_to(precious)
    with pytest.raises(OSError, match=rf"hand\.pc2\.{end}"):
        bake_on(workers.scheduler_address, [job(tmp_path / "hand.pc2", hand)])
    assert precious.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"hand.pc2.{end}", "precious"]


def test_an_existing_file_keeps_its_mode_until_it_is_replaced(
    hand: sbs.Character, workers: Any, tmp_path: Path
) -> None:
    path, link = tmp_path / "hand.pc2", tmp_path / "link.pc2"
    path.write_bytes(b"before")
    path.chmod(0o640)
    link.symlink_to(path)
    with pytest.raises(StopError):
        bake_on(workers.scheduler_address, [job(link, hand)], progress=stop_at(1))
    assert path.read_bytes() == b"before"
    assert resume(link, hand, workers) > 0
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_bytes() == alone(tmp_path / "alone.pc2", hand)


def test_another_version(hand: sbs.Character, workers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = sbs.__version__
    monkeypatch.setattr(clusters, "installed", "9.9.9")
    with pytest.raises(RuntimeError, match=rf"{version} .*9\.9\.9"):
        bake_on(workers.scheduler_address, [job(tmp_path / "hand.pc2", hand)])


@pytest.mark.parametrize("address", ["", "tcp://127.0.0.1:99999", "foo://x:1"])
def test_malformed_addresses(
    hand: sbs.Character, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """They are told before anything is connected to or written."""
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("connects"))
    message = rf"scheduler '{address}' is no address"
    with pytest.raises(ValueError, match=message):
        bake_on(address, [job(tmp_path / "a.pc2", hand)])
    with pytest.raises(ValueError, match=message):
        sbs.weights.fit([[0, 1, 0]], [[[0, 1, 0]]], np.eye(4)[None, None], scheduler=address)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "count", "address", "error", "message"),
    [
        ("a.npz", 1, "tcp://127.0.0.1:1", ValueError, "'a.npz'"),
        ("a.pc2", 2, "tcp://127.0.0.1:1", ValueError, "is the file of 2 jobs"),
        ("a.pc2", 1, "tcp://127.0.0.1:1", OSError, "127"),
        ("a.pc2", 1, "tcp://nobody.invalid:8786", OSError, r"'tcp://nobody\.invalid:8786'"),
    ],
)
def test_mistakes(
    hand: sbs.Character,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    count: int,
    address: str,
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.setattr(clusters, "_PATIENCE", 1)
    with pytest.raises(error, match=message):
        bake_on(address, [job(tmp_path / name, hand)] * count)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("address", "message"),
    [("localhost", "missing port"), ("inproc://1/2/3", "does not match host")],
)
def test_a_client_that_cannot_be_made_says_so_once(tmp_path: Path, address: str, message: str) -> None:
    """In a process of its own, for a client that was not made ends with it: one line, and no traceback."""
    command = [sys.executable, "-m", "sbs", "deform", HAND, "--animation", "fist", "--fps", "9"]
    output = str(tmp_path / "a.pc2")
    done = subprocess.run([*command, "--scheduler", address, "-o", output], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: scheduler" if address != "inproc://1/2/3" else "Error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
