# SPDX-License-Identifier: MIT
"""Files that are written completely or not at all, and files beside others."""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# No known format has a longer suffix, which would not fit after the random name.
_LONGEST_SUFFIX = 32

# How often, and how long at least, Windows is asked to let a file be replaced: a busy machine comes to few attempts in
# that time. Seconds.
_ATTEMPTS = 100
_PATIENCE = 2.0
_PAUSE = 0.01


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file to write to, which becomes `path` if the block succeeds and is removed if it fails.

    The temporary file is new, has a random name with the suffix of `path`, and is in the folder of `path`, so that
    renaming it is one step: any number of threads and processes may write to one path, and a reader finds the complete
    file of one of them. Mode and owner of an existing file are kept; a symbolic link stays, and its target is replaced.
    If `path` is not a regular file, but a pipe or a device, the bytes are written to it when the block has succeeded.
    On Windows, where no file that is open can be replaced, two seconds are waited for whoever reads it.
    If a signal ends the main thread meanwhile, the temporary file is removed first.

    Raises
    ------
    OSError
        If `path` cannot be written: a folder, a file or folder that is read-only, a full disk. It names `path`.
    """
    given, token = Path(path), secrets.token_hex(8)
    with _named(given, token), _tidying_when_ended():
        there = _status(given)
        if there is None or stat.S_ISREG(there.st_mode):
            with _beside(Path(os.path.realpath(given)), there, token) as temporary:
                yield temporary
        elif stat.S_ISDIR(there.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        else:
            with _copied_at_the_end(given, token) as temporary:
                yield temporary


def _status(path: Path) -> os.stat_result | None:
    """The status of a path, following links; None if nothing is there."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _beside(target: Path, there: os.stat_result | None, token: str) -> Iterator[Path]:
    """A new file in the folder of a regular file, to replace it."""
    if there is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    suffix = target.suffix if len(os.fsencode(target.suffix)) <= _LONGEST_SUFFIX else ""
    temporary = target.parent / f".{token}{suffix}"
    # Nobody else may read the file that replaces another until it is complete. `tempfile` makes private files
    # regardless of the umask.
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if there is None else 0o600))
    try:
        yield temporary
        if there is not None:
            resemble(temporary, there)
        _rename(temporary, target)
    except BaseException:
        # With the files beside it that libraries such as USD write to first.
        for left in target.parent.glob(f".{token}*"):
            left.unlink(missing_ok=True)
        raise


def _rename(temporary: Path, target: Path) -> None:
    """Let a file take the place of another; on Windows, as soon as nobody has that one open."""
    end = time.monotonic() + _PATIENCE
    for attempt in itertools.count(1):
        try:
            temporary.replace(target)
        except PermissionError:
            if os.name != "nt" or (attempt >= _ATTEMPTS and time.monotonic() > end):
                raise
            time.sleep(_PAUSE)
        else:
            return


def resemble(path: Path, model: os.stat_result) -> None:
    """Give a file the owner and the permissions of another, as far as the system allows."""
    mine = path.stat()
    if hasattr(os, "chown") and (mine.st_uid, mine.st_gid) != (model.st_uid, model.st_gid):
        with suppress(PermissionError):
            os.chown(path, model.st_uid, model.st_gid)
    with suppress(PermissionError):  # some file systems have no such modes
        path.chmod(model.st_mode & 0o777)


@contextmanager
def _copied_at_the_end(device: Path, token: str) -> Iterator[Path]:
    """A file whose bytes are copied to a pipe or a device at the end: some formats seek while they are written."""
    with tempfile.TemporaryDirectory(suffix=token) as folder:
        temporary = Path(folder, f"data{device.suffix}")
        temporary.touch()
        yield temporary
        with temporary.open("rb") as source, device.open("wb") as sink:
            shutil.copyfileobj(source, sink)


@contextmanager
def _named(path: Path, token: str) -> Iterator[None]:
    """Make errors of the system name the path asked for, where they name a temporary file or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # NumPy's errors, for example, which say how much was written
            raise OSError(errno.EIO, str(error), str(path)) from error
        if error.filename is None or token in os.fsdecode(error.filename):
            error.filename = str(path)
            del error.filename2  # None would be told, too
        raise


class _Ended(BaseException):
    """A signal that ends the process."""


@contextmanager
def _tidying_when_ended() -> Iterator[None]:
    """Make signals that would end the process end the block first. Signals that the program handles are left to it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    received: list[int] = []

    def end(number: int, _: object) -> None:
        received.append(number)
        raise _Ended

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [
        number for number in map(signal.Signals.__getitem__, names) if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        if received:
            os.kill(os.getpid(), received[0])


def lies_beside(other: str | os.PathLike[str], file: Path) -> bool:
    """Whether a path, wherever its links lead, is in the folder of a file or below it, so that the file may name it."""
    return Path(os.path.realpath(other)).is_relative_to(os.path.realpath(file.parent))
