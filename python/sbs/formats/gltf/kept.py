# SPDX-License-Identifier: MIT
"""The glTF file that a character is from, as a file to write: everything in it, and images that lie beside it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from ...rigging.content import FileError, FileWarning
from ...support.callers import warn
from ...support.text import well_formed
from .container import read_uri
from .output import Json, Output
from .source import Source

__all__ = ["open_copy"]

# Numbers of JSON in place of those that it does not have: 1e400 is infinite when it is read.
_NEAREST = {"Infinity": sys.float_info.max, "-Infinity": -sys.float_info.max, "NaN": None}

# The first bytes of images: of the kinds that glTF has, and its extensions.
_IMAGES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "image/ktx2": re.compile(rb"\xabKTX 20\xbb\r\n\x1a\n"),
    "image/vnd-ms.dds": re.compile(rb"DDS "),
    "image/avif": re.compile(rb"....ftypavif", re.DOTALL),
}

# Bytes of all images that lie beside a file.
_MOST_IMAGES = 1 << 30


def open_copy(source: Source) -> Output:
    """A copy of a file, with one buffer."""
    output = Output(_copy(source.json, source.path))
    blobs = [output.append(blob) for blob in source.blobs]
    starts = [blobs[blob] for blob in source.buffers]
    for view in output.elements("bufferViews"):
        try:
            view["byteOffset"] = int(view.get("byteOffset") or 0) + starts[int(view["buffer"])]
            view["buffer"] = 0
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            pass  # no reader needs this one: the others were checked
    _embed_images(output, source.path)
    return output


def _copy(content: Json, path: Path) -> Json:
    try:
        copy: Json = json.loads(json.dumps(content), parse_constant=_NEAREST.get)
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply to be saved") from None
    return copy


def _embed_images(output: Output, path: Path) -> None:
    """Take along images that are files beside the source, as the new file may lie elsewhere.

    Each file once, however many images have it. A file that is no image may be anything, such as a key that lies there.
    """
    images = output.json.get("images")
    files: dict[tuple[int, int], bytes] = {}
    views: dict[int, int] = {}
    for number, image in enumerate(images if isinstance(images, list) else []):
        uri = image.get("uri") if isinstance(image, dict) else None
        if not isinstance(uri, str) or uri.startswith("data:"):
            continue
        try:
            data = read_uri(path, well_formed(uri), f"images[{number}]", files, _MOST_IMAGES)
        except FileError:
            continue  # not to be found now; its name is kept
        kind = next((kind for kind, start in _IMAGES.items() if start.match(data)), None)
        if kind is None:
            warn(f"{path}: images[{number}], {uri[:200]!r}, is no image; its name is kept", FileWarning)
            continue
        if id(data) not in views:
            views[id(data)] = output.view(data)
        del image["uri"]
        image["bufferView"] = views[id(data)]
        image.setdefault("mimeType", kind)
