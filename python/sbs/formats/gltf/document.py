# SPDX-License-Identifier: MIT
"""Typed access to the JSON of a glTF file: every wrong type, missing key and index out of range is a FileError."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...rigging.content import FileError
from ...support.text import well_formed
from . import container

# Extensions that are read, or that do not affect positions, joints or animation.
HARMLESS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "KHR_xmp", "EXT_texture_", "KHR_mesh_quantization")

# Further ones that files may require: whether things are shown, where they are repeated, sounds, physics, avatars.
_NOT_OF_SKINS = (
    *("KHR_node_", "KHR_animation_pointer", "KHR_audio", "KHR_interactivity", "KHR_physics", "KHR_gaussian"),
    *("EXT_mesh_gpu_instancing", "EXT_lights", "MSFT_", "VRM", "OMI_", "AGI_", "FB_", "GODOT_"),
)
_COMPRESSION = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression")

# Decoding widens numbers (bytes to floats), and meshes may share data. A file that needs more memory is an attack.
_GROWTH = 64
_GROWTH_FREE = 1 << 24

# Every read takes some time, however small. This is added to its size, which limits files that repeat the same data.
_GROWTH_EACH = 1 << 10

# JSON numbers are exact for integers up to here (RFC 8259, section 6).
_LARGEST_INTEGER = 2**53


class Element:
    """A JSON object and where it is, for messages: its key, or its number in a list, in another element.

    Files have hundreds of thousands of these, so nothing is made before it is needed, above all the label.
    """

    __slots__ = ("_content", "_key", "_number", "_parent", "path")

    def __init__(
        self, path: Path, content: Any, parent: Element | None = None, key: str = "", number: int | None = None
    ) -> None:
        self.path = path
        self._content = content
        self._parent = parent
        self._key = key
        self._number = number
        if type(content) is not dict:
            raise self.error(f"an object is needed, found {_show(content)}")

    @property
    def label(self) -> str:
        """Where it is in the file: ``meshes[0].primitives[2]``; empty for the top-level object."""
        if self._parent is None:
            return ""
        key = self._key if self._number is None else f"{self._key}[{self._number}]"
        return f"{self._parent.label}.{key}" if self._parent.label else key

    def error(self, message: str, key: str | None = None) -> FileError:
        label = f"{self.label}.{key}" if key and self.label else key or self.label
        return FileError(f"{self.path}: {label}: {message}" if label else f"{self.path}: {message}")

    def __contains__(self, key: str) -> bool:
        return self._content.get(key) is not None

    def has_extension(self, name: str) -> bool:
        return "extensions" in self and name in self.child("extensions")

    def _get(self, key: str) -> Any:
        value = self._content.get(key)
        if value is None:
            raise self.error("missing", key)
        return value

    def integer(self, key: str, default: int | None = None, *, minimum: int = 0) -> int:
        """An integer of at least `minimum`; without a default the key is required."""
        value = self._content.get(key)
        if type(value) is int and minimum <= value <= _LARGEST_INTEGER:
            return value
        if default is not None and key not in self:
            return default
        return self._checked_integer(self._get(key), key, minimum)

    def _checked_integer(self, value: Any, key: str, minimum: int) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"an integer is needed, found {_show(value)}", key)
        if value < minimum:
            raise self.error(f"{_show(value)} is less than {minimum}", key)
        if value > _LARGEST_INTEGER:
            raise self.error(f"{_show(value)} is too large", key)
        return value

    def integers(self, key: str) -> list[int]:
        """A list of integers from 0; empty if the key is missing."""
        return [self._checked_integer(value, f"{key}[{i}]", 0) for i, value in enumerate(self._list(key))]

    def numbers(self, key: str, default: list[float]) -> list[float]:
        """Finite numbers, as many as in the default."""
        if key not in self:
            return default
        values = self._list(key)
        if len(values) != len(default):
            raise self.error(f"{len(default)} numbers are needed, found {len(values)}", key)
        for i, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self.error(f"a number is needed, found {_show(value)}", f"{key}[{i}]")
            if not abs(value) < 1e300:
                raise self.error(f"{_show(value)} is no finite number", f"{key}[{i}]")
        return [float(value) for value in values]

    def string(self, key: str, default: str | None = None) -> str:
        value = self._content.get(key)
        if value is None:
            value = self._get(key) if default is None else default
        if type(value) is not str:
            raise self.error(f"a string is needed, found {_show(value)}", key)
        return value if value.isascii() else well_formed(value)

    def anything(self, key: str) -> Any:
        """The value of a key, of any type, or None: extras follow no rule."""
        return self._content.get(key)

    def flag(self, key: str) -> bool:
        value = self._content.get(key) or False
        if not isinstance(value, bool):
            raise self.error(f"true or false is needed, found {_show(value)}", key)
        return value

    def child(self, key: str) -> Element:
        return Element(self.path, self._get(key), self, key)

    def children(self, key: str) -> list[Element]:
        """A list of objects; empty if the key is missing."""
        return [Element(self.path, value, self, key, i) for i, value in enumerate(self._list(key))]

    def strings(self, key: str) -> list[str]:
        values = self._list(key)
        if not all(isinstance(value, str) for value in values):
            raise self.error("strings are needed", key)
        return values

    def _list(self, key: str) -> list[Any]:
        value = self._content.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(f"a list is needed, found {_show(value)}", key)
        return value


class Document:
    """A glTF file: its elements by kind and number, and the bytes of its buffers.

    `remarks` collects what readers leave out or change.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        content, self._binary = container.read(path)
        self.root = Element(path, content)
        self._lists: dict[str, list[Element]] = {}
        self._charged = 0
        self.remarks: list[str] = []
        self._check_version()
        self._check_extensions()
        self._files: dict[tuple[int, int], bytes] = {}
        self._buffers = [self._read_buffer(buffer, index == 0) for index, buffer in enumerate(self.all("buffers"))]
        self._size = path.stat().st_size + sum(map(len, self._files.values()))

    def _check_version(self) -> None:
        version = self.root.child("asset").string("version")
        if not version.startswith("2."):
            raise FileError(f"{self.path}: glTF version {version[:20]!r}; only version 2 can be read")

    def _check_extensions(self) -> None:
        for name in self.root.strings("extensionsRequired"):
            if name in _COMPRESSION:
                raise self.compressed(name)
            if not name.startswith((*HARMLESS, *_NOT_OF_SKINS)):
                raise FileError(f"{self.path}: needs the extension {name[:80]!r}, which cannot be read")

    @property
    def json(self) -> dict[str, Any]:
        """The file's own object, as it is."""
        content: dict[str, Any] = self.root._content
        return content

    @property
    def is_compressed(self) -> bool:
        """Whether a part of the file is compressed, even if there is another form of it."""
        return any(name in _COMPRESSION for name in self.root.strings("extensionsUsed"))

    def blobs(self) -> tuple[list[bytes], list[int]]:
        """The contents of all buffers, each once and not copied, and the number in these of each buffer's."""
        numbers: dict[int, int] = {}
        blobs: list[bytes] = []
        for buffer in self._buffers:
            data = buffer.obj
            if isinstance(data, bytes) and numbers.setdefault(id(data), len(blobs)) == len(blobs):
                blobs.append(data)
        return blobs, [numbers[id(buffer.obj)] for buffer in self._buffers]

    def compressed(self, name: str) -> FileError:
        return FileError(
            f"{self.path}: compressed by {name}, which cannot be read; write the file again without compression"
        )

    def all(self, kind: str) -> list[Element]:
        """All elements of a kind, such as "nodes"."""
        if kind not in self._lists:
            self._lists[kind] = self.root.children(kind)
        return self._lists[kind]

    def get(self, kind: str, index: int, referrer: Element, key: str) -> Element:
        """Element `index` of a kind, which `referrer` refers to by `key`."""
        elements = self.all(kind)
        if index >= len(elements):
            raise referrer.error(f"{_show(index)}, but there are {len(elements)} {kind}", key)
        return elements[index]

    def follow(self, kind: str, referrer: Element, key: str) -> Element:
        """The element of a kind whose number is `key` of `referrer`."""
        return self.get(kind, referrer.integer(key), referrer, key)

    def buffer(self, view: Element) -> memoryview:
        """The bytes of the buffer that a buffer view refers to."""
        number = view.integer("buffer")
        if number >= len(self._buffers):
            self.follow("buffers", view, "buffer")
        return self._buffers[number]

    def _read_buffer(self, buffer: Element, first: bool) -> memoryview:
        data: bytes
        if "uri" in buffer:
            data = container.read_uri(self.path, buffer.string("uri"), buffer.label, self._files)
        elif first and self._binary is not None:
            data = self._binary
        else:
            for name in self.root.strings("extensionsUsed"):
                if name in _COMPRESSION:
                    raise self.compressed(name)
            raise buffer.error("no data: it has no uri, and the file no binary chunk for it")
        size = buffer.integer("byteLength", minimum=1)
        if size > len(data):
            raise buffer.error(f"{size} bytes are promised, {len(data)} are there", "byteLength")
        return memoryview(data)[:size]

    def charge(self, size: int, element: Element) -> None:
        """Count bytes to be allocated for an element, and raise if they exceed what a file of this size can need."""
        self._charged += size + _GROWTH_EACH
        if self._charged > _GROWTH_FREE + _GROWTH * self._size:
            raise FileError(
                f"{self.path}: {element.label}: asks for more memory ({self._charged} bytes in all) than a file of "
                f"{self._size} bytes can need"
            )


def _show(value: Any) -> str:
    """A value for a message, shortened."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) > 10**50:
        return "an integer of more than 50 digits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
