# SPDX-License-Identifier: MIT
"""The container of a file: GLB chunks, JSON text, and the bytes of buffers."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import struct
import urllib.parse
from pathlib import Path
from typing import Any

from ...rigging.content import FileError
from ...support.files import lies_beside

LARGEST = 2**32 - 1
"""Bytes that a GLB can have, and that its buffers have when they are files beside a glTF file."""

_GLB_MAGIC = b"glTF"
_HEADER = struct.Struct("<4sII")
_CHUNK = struct.Struct("<I4s")


def read(path: Path) -> tuple[dict[str, Any], bytes | None]:
    """The JSON object of a .glb or .gltf file, and the binary chunk if there is one.

    The content decides which of the two it is, not the name.
    """
    data = path.read_bytes()
    if not data.startswith(_GLB_MAGIC):
        return _parse_json(path, data), None
    chunks = _chunks(path, data)
    if not chunks or chunks[0][0] != b"JSON":
        raise FileError(f"{path}: the first chunk of a GLB must be JSON")
    binary = chunks[1][1] if len(chunks) > 1 and chunks[1][0] == b"BIN\0" else None
    return _parse_json(path, chunks[0][1]), binary


def _chunks(path: Path, data: bytes) -> list[tuple[bytes, bytes]]:
    if len(data) < _HEADER.size:
        raise FileError(f"{path}: cut off within the GLB header")
    _, version, length = _HEADER.unpack_from(data)
    if version != 2:
        raise FileError(f"{path}: GLB version {version}; only version 2 can be read")
    if length > len(data):
        raise FileError(f"{path}: cut off: the header says {length} bytes, the file has {len(data)}")
    chunks: list[tuple[bytes, bytes]] = []
    offset = _HEADER.size
    while offset < length:
        if offset + _CHUNK.size > length:
            raise FileError(f"{path}: the header of chunk {len(chunks)} ends outside the file")
        size, kind = _CHUNK.unpack_from(data, offset)
        offset += _CHUNK.size
        if offset + size > length:
            raise FileError(f"{path}: chunk {len(chunks)} of {size} bytes ends outside the file")
        chunks.append((kind, data[offset : offset + size]))
        offset += size
    return chunks


def _parse_json(path: Path, data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data.decode("utf-8-sig").rstrip("\0"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: neither GLB nor JSON that can be read: {error}") from None
    if not isinstance(content, dict):
        raise FileError(f"{path}: the JSON is no object, so this is no glTF")
    return content


def read_uri(path: Path, uri: str, label: str, files: dict[tuple[int, int], bytes], most: int = LARGEST) -> bytes:
    """The bytes behind the URI of a buffer or an image: a data URI, or a file in the folder of the file or below it.

    `files` keeps the contents of files by device and inode, since many URIs may refer to one file by different names.
    They have at most `most` bytes in all.
    """
    if uri.startswith("data:"):
        header, comma, text = uri.partition(",")
        if not comma or not header.endswith(";base64"):
            raise FileError(f"{path}: {label}.uri: only base64 data URIs can be read")
        try:
            return base64.b64decode(urllib.parse.unquote(text), validate=True)
        except (binascii.Error, ValueError) as error:
            raise FileError(f"{path}: {label}.uri: {error}") from None
    name = urllib.parse.unquote(uri)
    # Names with a drive letter or a scheme, absolute names, those with ".." and links would let a file read any other.
    if (
        re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name)
        or re.search(r"^[/\\]|(^|[/\\])\.\.([/\\]|$)|\0", name)
        or not lies_beside(path.parent / name, path)
    ):
        raise FileError(f"{path}: {label}.uri {name[:200]!r}: only files in the folder of the glTF file are read")
    try:
        if not (path.parent / name).is_file():
            raise FileError(f"{path}: {label}: the file {name[:200]!r} is missing")
        with (path.parent / name).open("rb") as file:
            status = os.fstat(file.fileno())
            identity = status.st_dev, status.st_ino
            if identity not in files:
                if status.st_size > most - sum(map(len, files.values())):
                    raise FileError(f"{path}: {label}: with {name[:200]!r} there are more than {most} bytes to read")
                files[identity] = file.read()
        return files[identity]
    except OSError as error:
        raise FileError(f"{path}: {label}: {error}") from None
