# SPDX-License-Identifier: MIT
"""Read motions from Biovision BVH files: a tree of joints with channels, and a row of numbers for each frame."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..rigging.content import FileError, FileWarning, unique_names
from ..rigging.motion import Motion
from ..support.callers import warn
from ..support.rotations import matrices_from_axis_angle
from ..support.text import well_formed

__all__ = ["read"]

_MOST_JOINTS = 100_000
_MOST_CHANNELS = 6

# Bytes for a joint in a frame, and how much more than the file all may need. Joints without channels take no space in
# the file, so a small file could ask for much memory.
_BYTES = 96
_GROWTH, _GROWTH_FREE = 32, 1 << 24

Floats = NDArray[np.float64]


@dataclass
class _Joint:
    name: str
    parent: int
    offset: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    channels: list[str] = field(default_factory=list)


class _Words:
    """The words of the text before the numbers, with their lines."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = [line.split() for line in text.split("\n")]
        self._line, self._word = 0, 0

    def error(self, message: str) -> FileError:
        return FileError(f"{self._path}: line {self._line + 1}: {message}")

    def more(self) -> bool:
        """Whether there is another word."""
        while self._line < len(self._lines) and self._word >= len(self._lines[self._line]):
            self._line, self._word = self._line + 1, 0
        return self._line < len(self._lines)

    def next(self, what: str) -> str:
        if self.more():
            self._word += 1
            return self._lines[self._line][self._word - 1]
        self._line = max(0, len(self._lines) - 1)
        raise self.error(f"the file ends where {what} is needed")

    def remaining_line(self) -> str:
        """The rest of the current line: names may contain spaces."""
        words = self._lines[self._line][self._word :] if self._line < len(self._lines) else []
        self._word += len(words)
        return " ".join(words)

    def number(self, what: str) -> float:
        word = self.next(what)
        value = _number(word)
        if not abs(value) < 1e30:
            raise self.error(f"{word[:40]!r}, where {what} is needed")
        return value

    def expect(self, word: str) -> None:
        found = self.next(word)
        if found.lower() != word.lower():
            raise self.error(f"{found[:40]!r}, where {word} is needed")


def read(path: Path) -> Motion:
    """Read a motion.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Motion
        Rotations are applied in the order of the channels, each about axes turned by those before. Channels of
        positions replace the offset of a joint.

    Raises
    ------
    FileError
        If the file is damaged; the message names it and the line.
    OSError
        If it cannot be read.

    Warns
    -----
    FileWarning
        If there are more or fewer whole rows than frames are told, or the last row was cut: whole rows are read.
    """
    text = path.read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    # The last occurrence, because a joint may have this name.
    found = next(reversed([*re.finditer(r"^[ \t]*MOTION[ \t]*$", text, re.IGNORECASE | re.MULTILINE)]), None)
    if found is None:
        raise FileError(f"{path}: no line MOTION, so there are no frames")
    joints = _read_joints(_Words(path, text[: found.start()]))
    numbers, times = _read_frames(path, text, found.end(), joints)
    offsets = np.array([joint.offset for joint in joints])
    rotations, translations = _moved(joints, numbers, offsets)
    return Motion(
        name=well_formed(path.stem),
        names=tuple(unique_names([well_formed(joint.name) for joint in joints])),
        parents=np.array([joint.parent for joint in joints], np.int32),
        offsets=offsets,
        times=times,
        rotations=rotations,
        translations=translations,
    )


def _read_joints(words: _Words) -> list[_Joint]:
    """The joints, each after its parent, without the end sites of chains."""
    words.expect("HIERARCHY")
    joints: list[_Joint] = []
    open_joints: list[int] = []  # -1 for the end of a chain
    while words.more():
        word = words.next("a joint").lower()
        if word in ("root", "joint"):
            if (word == "root") == bool(open_joints) or -1 in open_joints[-1:]:
                raise words.error(f"{word.upper()} out of place")
            joints.append(_Joint(words.remaining_line(), open_joints[-1] if open_joints else -1))
            if len(joints) > _MOST_JOINTS:
                raise words.error(f"more than {_MOST_JOINTS} joints")
            words.expect("{")
            open_joints.append(len(joints) - 1)
        elif not open_joints:
            raise words.error(f"{word[:40]!r}, where ROOT is needed")
        elif word == "end":
            words.remaining_line()
            words.expect("{")
            open_joints.append(-1)
        elif word == "}":
            open_joints.pop()
        elif word == "offset":
            offset = [words.number("a number of OFFSET") for _ in range(3)]
            if open_joints[-1] >= 0:
                joints[open_joints[-1]].offset = offset
        elif word == "channels" and open_joints[-1] >= 0:
            _read_channels(words, joints[open_joints[-1]])
        else:
            raise words.error(f"{word[:40]!r} is not known here")
    if open_joints:
        raise words.error("a } is missing")
    if not joints:
        raise words.error("no joints")
    return joints


def _read_channels(words: _Words, joint: _Joint) -> None:
    count = words.number("the number of channels")
    if not (0 <= count <= _MOST_CHANNELS and count == int(count)) or joint.channels:
        raise words.error(f"{count:g} channels of joint {joint.name[:40]!r}")
    for _ in range(int(count)):
        channel = words.next("a channel").lower()
        if not re.fullmatch("[xyz](position|rotation)", channel):
            raise words.error(f"{channel[:40]!r} is no channel")
        joint.channels.append(channel)


def _read_frames(path: Path, text: str, start: int, joints: list[_Joint]) -> tuple[Floats, Floats]:
    """The numbers (F, channels) after MOTION, and the times (F,) of the frames."""
    head = re.compile(r"\s*Frames:\s*(\d{1,9})\s+Frame Time:\s*(\S+)", re.IGNORECASE).match(text, start)
    if head is None:
        raise FileError(f"{path}: 'Frames:' and 'Frame Time:' are needed behind MOTION")
    told, step = int(head[1]), _number(head[2])
    if not 0.0 <= step < 1e6:
        raise FileError(f"{path}: {told} frames of {head[2][:40]} s")
    columns = sum(len(joint.channels) for joint in joints)
    lines = _Lines(path, text, head.end())
    numbers = lines.numbers()
    count = told
    if len(numbers) != told * columns:
        count = len(numbers) // columns if columns else 0
        if not count:
            raise FileError(f"{path}: no whole row of {columns} numbers, one for each channel")
        if len(numbers) % columns:
            lines.check_all_but_last(columns)
        rows = "row" if count == 1 else "rows"
        warn(f"{path}: 'Frames:' says {told}; the {count} whole {rows} of {columns} numbers are read", FileWarning)
        numbers = numbers[: count * columns]
    needed = count * len(joints) * _BYTES
    if needed > _GROWTH_FREE + _GROWTH * len(text):
        raise FileError(f"{path}: asks for more memory ({needed} bytes) than a file of its size can need")
    numbers = numbers.reshape(count, columns)
    for frame, channel in np.argwhere(~(np.abs(numbers) < 1e30))[:1]:
        raise FileError(f"{path}: number {channel} of frame {frame} is {numbers[frame, channel]}")
    return numbers, step * np.arange(count, dtype=np.float64)


class _Lines:
    """The lines of numbers, from some place of the text on."""

    def __init__(self, path: Path, text: str, start: int) -> None:
        self._path, self._text = path, text[start:]
        self._first = text.count("\n", 0, start) + 1

    def numbers(self) -> Floats:
        """All numbers; without the last if the file ends within it."""
        text = self._text
        last = text.rsplit(None, 1)[-1] if text[-1:].strip() else "0"
        if not _is_number(last):
            text = text[: -len(last)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # not a number
            try:
                return np.fromstring(text, dtype=np.float64, sep=" ")
            except (DeprecationWarning, ValueError):
                pass
        for line, words in self._words():
            for word in words:
                if not _is_number(word):
                    raise FileError(f"{self._path}: line {line}: {word[:40]!r} is no number")
        raise FileError(f"{self._path}: not all words behind 'Frame Time:' are numbers")

    def check_all_but_last(self, columns: int) -> None:
        """Name the first line before the last that has another number of numbers."""
        for line, words in self._words()[:-1]:
            if len(words) != columns:
                raise FileError(f"{self._path}: line {line}: {len(words)} numbers, {columns} are needed")

    def _words(self) -> list[tuple[int, list[str]]]:
        """The words of each line that has any, with its number in the file."""
        lines = enumerate(self._text.split("\n"), self._first)
        return [(number, words) for number, line in lines if (words := line.split())]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _moved(joints: list[_Joint], numbers: Floats, offsets: Floats) -> tuple[Floats, Floats]:
    """Rotations (F, J, 3, 3) and translations (F, J, 3) of the joints; joints with the same channels at once."""
    rotations: Floats = np.zeros((len(numbers), len(joints), 3, 3))
    rotations[:] = np.eye(3)
    translations: Floats = np.zeros((len(numbers), len(joints), 3))
    translations[:] = offsets
    first = np.cumsum([0] + [len(joint.channels) for joint in joints])
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, joint in enumerate(joints):
        alike.setdefault(tuple(joint.channels), []).append(number)
    for channels, members in alike.items():
        for place, channel in enumerate(channels):
            axis, values = "xyz".index(channel[0]), numbers[:, first[members] + place]
            if channel.endswith("position"):
                translations[:, members, axis] = values
            else:
                turn = matrices_from_axis_angle(np.eye(3)[axis], values, degrees=True)
                rotations[:, members] = rotations[:, members] @ turn
    return rotations, translations
