# SPDX-License-Identifier: MIT
"""The table of formats, and how to find the format of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Animation
from ..rigging.content import CharacterContent, FileError, Wanted
from ..rigging.motion import Motion
from ..rigging.rig import Rig
from ..rigging.triangle_mesh import Mesh, MeshPart
from ..skinning.options import BlendOptions
from . import bvh, caches, fbx, glb_frames, pmx, surfaces, usd, usd_writer
from .gltf import reader, writer

__all__ = ["FORMATS", "Format", "Role", "recognized", "with_role", "written"]

Role = Literal["read", "motion", "write", "write_pose", "frames"]
"""The uses of a format: the attributes of its row."""

# How many bytes at the beginning of a file are read to recognize it.
_HEAD = 32


class Reader(Protocol):
    """Reads a character, the wanted one of several."""

    def __call__(self, path: Path, wanted: Wanted, /) -> CharacterContent: ...


class MotionReader(Protocol):
    """Reads a motion without a mesh."""

    def __call__(self, path: Path, /) -> Motion: ...


class Writer(Protocol):
    """Writes a character, completely or not at all."""

    def __call__(
        self,
        path: Path,
        name: str,
        mesh: Mesh,
        rig: Rig,
        animations: Sequence[Animation],
        /,
        *,
        weights: str,
        source: object,
        options: BlendOptions,
    ) -> None: ...


class PoseWriter(Protocol):
    """Writes one pose to a temporary name; several parts as objects of their own, where the format has any."""

    def __call__(
        self,
        path: Path,
        positions: NDArray[np.floating[Any]],
        normals: NDArray[np.floating[Any]] | None,
        triangles: NDArray[np.int32],
        uvs: NDArray[np.floating[Any]] | None = None,
        tangents: NDArray[np.floating[Any]] | None = None,
        parts: Sequence[MeshPart] = (),
        /,
    ) -> None: ...


@dataclass(frozen=True)
class Format:
    """A row of the table.

    Attributes
    ----------
    name : str
    suffixes : tuple of str
        Suffixes of names, in lower case.
    keeps : str
        The parts of a character or a pose that the format keeps, in words.
    magic : tuple of bytes
        The first bytes of files, if these distinguish the format from others.
    extra : str, optional
        The optional dependency of this package that it needs.
    read, motion, write, write_pose, frames : optional
        Functions that read a character or a motion, write a character or a pose; the cache that frames are streamed to.
    """

    name: str
    suffixes: tuple[str, ...]
    keeps: str
    magic: tuple[bytes, ...] = ()
    extra: str | None = None
    read: Reader | None = None
    motion: MotionReader | None = None
    write: Writer | None = None
    write_pose: PoseWriter | None = None
    frames: type[caches.Cache] | None = None


FORMATS: tuple[Format, ...] = (
    Format(
        "glTF 2.0, binary",
        (".glb",),
        "mesh, normals, tangents, UVs, skeleton, weights, blend shapes, animations; of a file that was read all else",
        magic=(b"glTF",),
        read=reader.read,
        write=writer.write,
        write_pose=writer.write_pose,
        frames=glb_frames.GLB,
    ),
    Format("glTF 2.0, text", (".gltf",), "as the binary form", read=reader.read),
    Format("VRM", (".vrm",), "as glTF; written of a VRM alone", read=reader.read, write=writer.write),
    Format(
        "USD, binary",
        (".usdc", ".usd"),
        "mesh, normals, UVs of points, skeleton, weights, blend shapes, skinning method, animations",
        magic=(b"PXR-USDC",),
        extra="usd",
        read=usd.read,
        write=usd_writer.write,
        frames=usd_writer.USD,
    ),
    Format(
        "USD, text",
        (".usda",),
        "as the binary form",
        magic=(b"#usda",),
        extra="usd",
        read=usd.read,
        write=usd_writer.write,
    ),
    Format("USD, package", (".usdz",), "as the binary form", extra="usd", read=usd.read),
    Format(
        "Autodesk FBX",
        (".fbx",),
        "mesh, normals, UVs of points, skeleton, weights, blend shapes, skinning method, animations",
        magic=(b"Kaydara FBX Binary", b"; FBX"),
        extra="fbx",
        read=fbx.read,
    ),
    Format(
        "MikuMikuDance PMX",
        (".pmx",),
        "mesh, normals, UVs, skeleton, weights, spherical deformation",
        magic=(b"PMX ",),
        read=pmx.read,
    ),
    Format(
        "Biovision BVH",
        (".bvh",),
        "skeleton, motion",
        magic=(b"HIERARCHY",),
        motion=bvh.read,
    ),
    Format("Wavefront OBJ", (".obj",), "positions, normals, UVs, triangles", write_pose=surfaces.write_obj),
    Format("Stanford PLY", (".ply",), "positions, normals, triangles", write_pose=surfaces.write_ply),
    Format("NumPy array", (".npy",), "positions", write_pose=surfaces.write_npy, frames=caches.NPY),
    Format("NumPy archive", (".npz",), "positions, times, triangles", frames=caches.NPZ),
    Format("Point cache 2", (".pc2",), "positions, first frame", frames=caches.PC2),
    Format("Motion Designer", (".mdd",), "positions, times", frames=caches.MDD),
)


def with_role(role: Role) -> list[Format]:
    """The formats with a role."""
    return [row for row in FORMATS if getattr(row, role) is not None]


def endings(role: Role) -> str:
    """The suffixes of the formats with a role, for a message."""
    names = [suffix for row in with_role(role) for suffix in row.suffixes]
    return ", ".join(names)


def written(path: Path, role: Role) -> Format:
    """The format for a file to write, by the suffix of its name.

    Raises
    ------
    ValueError
        If there is none with the role; the message lists formats with it.
    """
    suffix = path.suffix.lower()
    for row in with_role(role):
        if suffix in row.suffixes:
            return row
    raise ValueError(f"{path.name!r} does not end in {endings(role)}")


def recognized(path: Path, role: Role = "read") -> Format:
    """The format of an existing file, by its first bytes, or else by the suffix of its name.

    Raises
    ------
    FileError
        If neither matches a format with the role; the message lists formats with it.
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    row = _row(head, path.suffix.lower())
    if row is not None and getattr(row, role) is not None:
        return row
    if row is not None and role == "read" and row.motion is not None:
        raise FileError(
            f"{path}: {row.name} holds a motion without a mesh, which sbs.load_motion reads, and --motion of sbs deform"
        )
    if row is not None and role == "motion" and row.read is not None:
        raise FileError(f"{path}: {row.name} holds a character, which sbs.load reads")
    what = "motions" if role == "motion" else "characters"
    raise FileError(f"{path}: of no format that {what} are read from ({endings(role)})")


def _row(head: bytes, suffix: str) -> Format | None:
    for row in FORMATS:
        if row.magic and head.startswith(row.magic):
            return row
    for row in FORMATS:
        if suffix in row.suffixes and (row.read or row.motion):
            return row
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):  # JSON, whatever its name
        return next(row for row in FORMATS if ".gltf" in row.suffixes)
    return None
