# SPDX-License-Identifier: MIT
"""Files that are there whole or not at all, whoever else writes, and however writing ends."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from sbs.support.files import replacing

posix = pytest.mark.applies(os.name == "posix", reason="modes, links and signals are those of POSIX")
windows = pytest.mark.applies(os.name == "nt", reason="elsewhere files that are open can be replaced")
as_root = hasattr(os, "geteuid") and os.geteuid() == 0


def save(path: str | Path, text: str = "new") -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_the_old_file_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["data.txt"]
    with replacing(path) as first, replacing(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_library_wrote_beside_the_temporary_goes_with_it(tmp_path: Path) -> None:
    """USD writes to a file of its own, and leaves it where it can't be renamed."""
    (tmp_path / ".other.usdc").write_text("")
    with pytest.raises(RuntimeError), replacing(tmp_path / "data.usdc") as temporary:
        temporary.with_suffix(".a5Gh1k").write_text("half")
        raise RuntimeError
    assert [file.name for file in tmp_path.iterdir()] == [".other.usdc"]


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    errors = []
    done = threading.Event()

    def write(number: int) -> None:
        try:
            for _ in range(40):
                with replacing(path) as temporary:
                    np.save(temporary, np.full(20_000, number))
        except Exception as error:
            errors.append(error)

    def read() -> None:
        try:
            while not done.wait(0.001):  # Windows replaces a file when nobody has it open
                try:
                    values = np.load(path)
                except PermissionError:  # what Windows tells a reader in the moment of the replacement
                    assert os.name == "nt"
                    continue
                assert values.shape == (20_000,)
                assert (values == values[0]).all()
        except Exception as error:
            errors.append(error)

    np.save(path, np.zeros(20_000, int))
    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    reader = threading.Thread(target=read)
    for thread in [*writers, reader]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert errors == []
    assert [file.name for file in tmp_path.iterdir()] == ["data.npy"]


@posix
def test_a_link_planted_where_the_temporary_was_expected_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".data.{os.getpid()}.txt").symlink_to(victim)
    save(tmp_path / "data.txt")
    assert victim.read_text() == "precious"
    assert (tmp_path / "data.txt").read_text() == "new"


@posix
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755])
def test_the_mode_of_a_file_stays(tmp_path: Path, mode: int) -> None:
    """Nobody reads a private file while it is written; a new one has the mode of any."""
    path = tmp_path / "data.txt"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert temporary.stat().st_mode & 0o077 & ~mode == 0
        temporary.write_text("new")
    assert path.stat().st_mode & 0o7777 == mode
    assert path.read_text() == "new"
    (tmp_path / "plain").write_text("")
    save(tmp_path / "other.txt")
    assert (tmp_path / "other.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


@posix
@pytest.mark.parametrize("there", [True, False])
def test_a_symlink_stays_and_its_target_is_written(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    if there:
        (folder / "real.txt").write_text("old")
    link = tmp_path / "data.txt"
    link.symlink_to(Path("elsewhere", "real.txt"))
    save(link)
    assert link.is_symlink()
    assert (folder / "real.txt").read_text() == "new"
    assert [file.name for file in folder.iterdir()] == ["real.txt"]


def test_names_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 251 + ".npy")
    with replacing(path) as temporary:
        np.save(temporary, np.arange(3))
    assert np.load(path).tolist() == [0, 1, 2]
    path = tmp_path / ("a." + "b" * 253)
    save(path)
    assert path.read_text() == "new"


@posix
def test_what_is_no_regular_file_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pose.npy"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with replacing(pipe) as temporary:
        np.save(temporary, np.arange(1000))
    reader.join(timeout=30)
    assert pipe.is_fifo()
    assert received[0].startswith(b"\x93NUMPY")
    assert len(received[0]) == 128 + 8000
    assert [file.name for file in tmp_path.iterdir()] == ["pose.npy"]


@posix
def test_devices_stay_devices() -> None:
    save("/dev/null")
    assert Path("/dev/null").is_char_device()
    if Path("/dev/full").exists():
        with pytest.raises(OSError, match="/dev/full") as error:
            save("/dev/full")
        assert error.value.strerror


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Not the temporary one; errors of other files name these."""
    path = tmp_path / "data.txt"
    with pytest.raises(FileNotFoundError) as error:
        save(tmp_path / "missing" / "data.txt")
    assert error.value.filename == str(tmp_path / "missing" / "data.txt")
    with pytest.raises(FileNotFoundError) as error, replacing(path):
        (tmp_path / "source.txt").read_text()
    assert error.value.filename == str(tmp_path / "source.txt")
    with pytest.raises(OSError, match=str(tmp_path.name)), replacing(tmp_path):
        pytest.fail("the block was entered")
    if os.name == "posix":
        path.symlink_to(path)
        with pytest.raises(OSError, match=r"data\.txt"):
            save(path)


@posix
@pytest.mark.applies(not as_root, reason="root may write everywhere")
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_is_read_only_is_left_and_named(tmp_path: Path, is_folder: bool) -> None:
    path = tmp_path / "data.txt"
    path.write_text("old")
    closed = tmp_path if is_folder else path
    closed.chmod(0o500)
    try:
        with pytest.raises(PermissionError) as error:
            save(path)
    finally:
        closed.chmod(0o700)
    assert error.value.filename == str(path)
    assert path.read_text() == "old"


@windows
def test_a_file_that_is_open_is_replaced_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("old")
    with path.open() as file:
        closing = threading.Timer(0.2, file.close)
        closing.start()
        save(path)
        closing.join()
    assert path.read_text() == "new"
    with path.open(), pytest.raises(PermissionError) as error:
        save(path, "newer")
    assert error.value.filename == str(path)
    assert [file.name for file in tmp_path.iterdir()] == ["data.txt"]
    assert path.read_text() == "new"


FULL = """
import resource, sys
import numpy as np
from sbs.support.files import replacing

resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # the like of a full disk, for this process alone
try:
    with replacing(sys.argv[1]) as temporary:
        if sys.argv[2] == "numpy":
            np.save(temporary, np.zeros(10_000))
        else:
            temporary.write_bytes(bytes(80_000))
except OSError as error:
    print(f"{error.filename}|{error.strerror}|{error}")
"""


@posix
@pytest.mark.parametrize("how", ["numpy", "bytes"])
def test_a_disk_that_is_full_is_told_by_the_name_of_the_file(tmp_path: Path, how: str) -> None:
    path = tmp_path / "data.npy"
    path.write_bytes(b"old")
    result = subprocess.run(
        [sys.executable, "-c", FULL, str(path), how], capture_output=True, text=True, check=True, timeout=60
    )
    filename, strerror, message = result.stdout.strip().split("|")
    assert filename == str(path)
    assert strerror != "None"
    assert str(path) in message
    assert [file.name for file in tmp_path.iterdir()] == ["data.npy"]
    assert path.read_bytes() == b"old"


ENDED = """
import signal, sys, time
from sbs.support.files import replacing

# Whoever started the tests may have had the signal ignored, as nohup does.
signal.signal(int(sys.argv[2]), signal.default_int_handler if int(sys.argv[2]) == signal.SIGINT else signal.SIG_DFL)
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("ready", flush=True)
    # In short steps: a signal that comes just before the call sleep() is answered only when that has ended.
    for _ in range(6000):
        time.sleep(0.01)
"""


@posix
@pytest.mark.parametrize("number", [getattr(signal, name, None) for name in ("SIGTERM", "SIGINT", "SIGHUP")])
def test_a_process_that_is_ended_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "data.txt"
    path.write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", ENDED, str(path), str(int(number))], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert len(list(tmp_path.iterdir())) == 2
        process.send_signal(number)
        assert process.wait(timeout=30) == -number  # whoever waits for it sees why it ended
    assert [file.name for file in tmp_path.iterdir()] == ["data.txt"]
    assert path.read_text() == "old"


@posix
def test_signal_handlers_of_the_program_stay_its_own(tmp_path: Path) -> None:
    calls = []
    before = signal.signal(signal.SIGTERM, lambda *_: calls.append(1))
    try:
        handler = signal.getsignal(signal.SIGTERM)
        with replacing(tmp_path / "data.txt") as temporary:
            assert signal.getsignal(signal.SIGTERM) is handler
            os.kill(os.getpid(), signal.SIGTERM)
            temporary.write_text("new")
        assert calls == [1]
    finally:
        signal.signal(signal.SIGTERM, before)
    save(tmp_path / "data.txt")
    assert signal.getsignal(signal.SIGTERM) is before
