# SPDX-License-Identifier: MIT
"""A file that is written in pieces, in any order, with a journal of the pieces that it has.

Until it is complete, ``run.pc2`` is named ``run.pc2.part``. The first line of ``run.pc2.journal`` identifies the
content. Each further line is a piece, as JSON: its offset, its size, its checksum, and the checksum of these three. An
interrupted run goes on with the pieces that are there. Where either checksum is wrong, the piece counts as missing.
Files of these names that are somebody else's are left as they are, and refused: a journal that does not begin as ours,
a part without a journal, and hard links.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import secrets
import stat
import zlib
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..skinning.skin import Skin
from ..skinning.twist import Twist
from ..support.files import resemble

__all__ = ["Place", "Unfinished", "digest", "put"]

# Not through links, which somebody else may have put there.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

# How a journal begins.
_BEGINS = b'{"identity": "'

_BLOCK = 1 << 20


@dataclasses.dataclass(frozen=True)
class Place:
    """Where pieces go, for processes that may be on other machines.

    Attributes
    ----------
    part, journal : str
        Absolute names.
    token : str
        A word in the first line of the journal, by which another machine knows that it sees the same file.
    """

    part: str
    journal: str
    token: str

    def is_here(self) -> bool:
        """Whether this machine has the file, too."""
        try:
            with Path(self.journal).open("rb") as journal:
                first = _parsed(journal.readline(_BLOCK))
        except OSError:
            return False
        return isinstance(first, dict) and first.get("token") == self.token


def put(part: str | Path, offset: int, data: bytes | memoryview) -> None:
    """Write a piece. Two processes may write the same piece at once, as it is the same bytes."""
    with Path(part).open("r+b", buffering=0) as file:
        file.seek(offset)
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]


class Unfinished(AbstractContextManager["Unfinished"]):
    """The file that `target` becomes when `finish` is called; an interrupted one stays for another run.

    Parameters
    ----------
    target : Path
    identity : str
        The `digest` of the content. Pieces of another identity are dropped.
    size : int
        Bytes.

    Attributes
    ----------
    pieces : dict of (int, int) to int
        Checksums of the pieces that are there, by their offset and size.

    Raises
    ------
    OSError
        If the file cannot be written, is not a regular one, or another run writes it; or a file with the name of its
        part or of its journal is somebody else's.
    """

    def __init__(self, target: Path, identity: str, size: int) -> None:
        real = Path(os.path.realpath(target))
        if real.exists() and not stat.S_ISREG(real.stat().st_mode):
            raise OSError(errno.EINVAL, "not a regular file, which pieces are written to", str(target))
        if real.exists() and not os.access(real, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        self._target, self._identity, self._size = real, identity, size
        self._part, self._journal_name = (real.with_name(f"{real.name}.{end}") for end in ("part", "journal"))
        self.pieces: dict[tuple[int, int], int] = {}
        self._journal: IO[bytes]

    def __enter__(self) -> Unfinished:
        self._journal, is_made = _locked(self._journal_name, self._target)
        is_new = not os.fstat(self._journal.fileno()).st_size
        is_ours = False
        try:
            _check_alone(self._journal, self._journal_name)
            if not is_new and self._journal.read(len(_BEGINS)) != _BEGINS:
                raise _somebody_elses(self._journal_name)
            known = self._read()
            if is_new:
                self._begin()  # before there is a part, which is nobody's without it
            with self._open_part(is_new) as file:
                is_ours = is_new
                if known and os.fstat(file.fileno()).st_size == self._size:
                    self.pieces = {place: found for place, found in known.items() if _is_there(file, *place, found)}
                else:
                    file.truncate(0)
                file.truncate(self._size)
            self._begin()
        except BaseException:
            if is_ours:
                self._part.unlink(missing_ok=True)
            if is_made:
                self._journal_name.unlink(missing_ok=True)
            elif is_new:
                self._journal.truncate(0)
            self._journal.close()
            raise
        return self

    def _open_part(self, is_new: bool) -> IO[bytes]:
        """The part, which is not there yet if the journal is new."""
        try:
            part = os.fdopen(os.open(self._part, _FLAGS | (os.O_EXCL if is_new else 0), 0o666), "r+b")
        except FileExistsError:
            raise _somebody_elses(self._part) from None
        try:
            _check_alone(part, self._part)
        except BaseException:
            part.close()
            raise
        return part

    def __exit__(self, *_: object) -> None:
        if not self.pieces:  # there is nothing to go on from
            self._part.unlink(missing_ok=True)
            self._journal_name.unlink(missing_ok=True)
        self._journal.close()

    @property
    def place(self) -> Place:
        """For those who write pieces."""
        return Place(str(self._part), str(self._journal_name), self._token)

    def write(self, offset: int, data: bytes | memoryview) -> None:
        """Write bytes; `record` makes a piece of them."""
        put(self._part, offset, data)

    def record(self, offset: int, size: int, checksum: int) -> None:
        """Note that a piece is there."""
        self.pieces[offset, size] = checksum
        self._line(_entry(offset, size, checksum))

    def finish(self) -> None:
        """Make it the target: all pieces are there."""
        if self._target.exists():
            resemble(self._part, self._target.stat())
        self._part.replace(self._target)
        self._journal_name.unlink(missing_ok=True)

    def _read(self) -> dict[tuple[int, int], int]:
        """The pieces that the journal has, if it is of the same file."""
        self._journal.seek(0)
        first, *rest = (_parsed(line) for line in self._journal.read().split(b"\n"))
        if not isinstance(first, dict) or first.get("identity") != self._identity:
            return {}
        pieces: dict[tuple[int, int], int] = {}
        for entry in rest:
            numbers = entry[:3] if isinstance(entry, list) else []
            if [type(number) for number in numbers] == [int] * 3 and entry == _entry(*numbers):
                offset, size, checksum = numbers
                if 0 <= offset <= offset + size <= self._size:
                    pieces[offset, size] = checksum
        return pieces

    def _begin(self) -> None:
        """Write the journal anew, with the pieces that are there."""
        self._token = secrets.token_hex(16)
        self._journal.seek(0)
        self._journal.truncate()
        self._line({"identity": self._identity, "token": self._token})
        for place, checksum in self.pieces.items():
            self._line(_entry(*place, checksum))

    def _line(self, content: object) -> None:
        self._journal.write(json.dumps(content).encode() + b"\n")
        self._journal.flush()


def _entry(offset: int, size: int, checksum: int) -> list[int]:
    """The entry of a piece in the journal, with a checksum of itself."""
    return [offset, size, checksum, zlib.crc32(f"{offset} {size} {checksum}".encode())]


def _parsed(line: bytes) -> object:
    """The content of a line of the journal, or None if it was damaged or cut off."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _somebody_elses(name: Path) -> OSError:
    return FileExistsError(
        errno.EEXIST, "not of an interrupted run, and would be overwritten: move or remove it", str(name)
    )


def _check_alone(file: IO[bytes], name: Path) -> None:
    """See that a file is a regular one with no other name: writing to it would change that, too."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise _somebody_elses(name)


def _locked(name: Path, target: Path) -> tuple[IO[bytes], bool]:
    """A journal that other runs keep away from until it is closed, and whether it was made."""
    while True:
        is_made = True
        try:
            opened = os.open(name, _FLAGS | os.O_EXCL, 0o666)
        except FileExistsError:
            is_made, opened = False, os.open(name, _FLAGS, 0o666)
        journal = os.fdopen(opened, "r+b")
        try:
            _lock(journal, target)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(journal.fileno()), name.stat()):
                    return journal, is_made
        except BaseException as error:
            journal.close()
            if is_made and not isinstance(error, BlockingIOError):  # no other run has it
                name.unlink(missing_ok=True)
            raise
        journal.close()  # the run that had it has ended meanwhile, and removed it


def _lock(journal: IO[bytes], target: Path) -> None:
    """Keep other runs away until the file is closed."""
    try:
        try:
            import fcntl
        except ImportError:
            import msvcrt

            journal.seek(1 << 30)  # beyond what others read
            msvcrt.locking(journal.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # on Windows
            journal.seek(0)
        else:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):  # a file system without locks
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise BlockingIOError(errno.EAGAIN, "another run is writing it", str(target)) from error


def _is_there(file: IO[bytes], offset: int, size: int, checksum: int) -> bool:
    """Whether the bytes of a piece are unchanged: a machine that lost power may have lost some."""
    file.seek(offset)
    found = 0
    while size > 0:
        block = file.read(min(size, _BLOCK))
        if not block:
            return False
        found, size = zlib.crc32(block, found), size - len(block)
    return found == checksum


def digest(*things: object) -> str:
    """A name for arrays, numbers, texts and collections of these, equal in all processes.

    Raises
    ------
    TypeError
        If there is anything else.
    """
    found = hashlib.sha256()
    _feed(found, things)
    return found.hexdigest()


def _feed(found: Any, thing: object) -> None:
    found.update(type(thing).__name__.encode() + b":")
    if thing is None or isinstance(thing, (str, int, float, range, np.generic)):
        found.update(repr(thing).encode() + b";")
    elif isinstance(thing, np.ndarray):
        found.update(f"{thing.dtype.str}{thing.shape};".encode())
        found.update(np.ascontiguousarray(thing).data)
    elif isinstance(thing, (list, tuple)):
        found.update(f"{len(thing)};".encode())
        for member in thing:
            _feed(found, member)
    elif isinstance(thing, dict):
        _feed(found, sorted(thing.items()))
    elif isinstance(thing, Skin | Twist):
        _feed(found, thing.__reduce__()[1][-1])
    elif dataclasses.is_dataclass(thing):
        _feed(found, {member.name: getattr(thing, member.name) for member in dataclasses.fields(thing)})
    else:
        raise TypeError(f"{type(thing).__name__} has no digest")
