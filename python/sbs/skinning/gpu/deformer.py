# SPDX-License-Identifier: MIT
"""A skin on a graphics processor."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...support.extras import MissingExtraError, load, silent_stderr
from ..options import DEFAULTS, ShapedOptions, base_options, method_name, with_deform_options
from ..palette import Palette
from ..skin import Skin
from .shader import CENTERS, describe_influences, describe_vertices, shader_source

__all__ = ["Deformer", "DeviceFrames"]

_PURPOSE = "graphics processors"

# Of workgroups of the shader, `@workgroup_size`.
_WORKGROUP = 64

# The least damping of weighted centers in Skin.deform, and the only one of the shader.
_WEIGHTED_DAMPING = 1e-6

# From here on joints of a set count as scaled differently, as sbs_pose_palette counts scaled joints.
_SCALED_ALIKE = 1e-5


class DeviceFrames(NamedTuple):
    """Frames that stay on the device, as `wgpu.GPUBuffer` of float32 numbers (F, V, 3), packed.

    Attributes
    ----------
    positions : wgpu.GPUBuffer
        To be bound as storage or as vertices, or to be copied from.
    normals : wgpu.GPUBuffer or None
    shape : (int, int, int)
        F, V and 3.
    """

    positions: Any
    normals: Any
    shape: tuple[int, int, int]


class Deformer:
    """A skin on a graphics processor, with one way to deform it: for many poses at once.

    Parameters
    ----------
    skin : Skin
        Of either type; float64 is rounded to float32, which all is computed in but rotation centers of joint sets. With
        a twist, too.
    device : wgpu.GPUDevice, optional
        By default one of the fastest adapter.
    method, rotation, center, damping, rcond, amount, base
        As of `Skin.deform`, with ``method="spherical"`` and ``"linear"``, ``rotation="qlerp"``, linear blending as the
        base, and no more `damping` than 1e-6 of weighted centers.

    Raises
    ------
    ValueError, TypeError
        As `Skin.deform`, and for options that the shader does not have.
    MissingExtraError
        If wgpu is not installed, or finds no adapter.

    Methods raise a RuntimeError if the device was lost, as when its driver is reset; the next Deformer gets a new one.

    Examples
    --------
    ::

        deformer = sbs.gpu.Deformer(skin, center="weighted")
        positions, normals = deformer.deform_many(skinning_matrices, normals=True)
    """

    @with_deform_options(ShapedOptions)
    def __init__(self, skin: Skin, *, device: Any = None, **options: Unpack[ShapedOptions]) -> None:
        refuse_unable(options)
        skin.deform_many(np.zeros((0, skin.joint_count, 3, 4)), **options)  # which checks them
        self.skin = skin
        self.device = _working_device() if device is None else device
        is_spherical = method_name(options.get("method", DEFAULTS["method"])) == "spherical"
        self._center = options.get("center", DEFAULTS["center"]) if is_spherical else None
        self._set_count = len(skin.joint_sets)
        self._palette_options: dict[str, Any] = {"method": "spherical" if is_spherical else "linear"}
        if self._center == "joint_set":
            self._palette_options["centers"] = True
            self._palette_options |= {name: options[name] for name in ("damping", "rcond") if name in options}
        influences = describe_influences(skin)
        vertices = describe_vertices(skin, self._center, options.get("amount"))
        self._has_blended_normals = bool((vertices["amount"][influences["weight"][:, 1:].any(axis=1)] < 1.0).any())
        self._vertices, self._influences = self._upload(vertices), self._upload(influences)
        constants = {"WIDTH": influences.shape[1], "CENTER": 0 if self._center is None else CENTERS[self._center]}
        module = self.device.create_shader_module(code=shader_source())
        self._pipeline = self.device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "main", "constants": constants}
        )

    @functools.cached_property
    def most_frames(self) -> int:
        """How many frames the device holds in one buffer.

        Raises
        ------
        ValueError
            If it does not even hold one.
        """
        limits = self.device.limits
        joint_count = self.skin.pose_palette(np.zeros((0, self.skin.joint_count, 3, 4))).joints.shape[1]
        largest = max(12 * self.skin.vertex_count, 64 * joint_count, 16 * self._set_count)
        room = min(limits["max-storage-buffer-binding-size"], limits["max-buffer-size"])
        groups = limits["max-compute-workgroups-per-dimension"]
        fixed = max(self._vertices.size, self._influences.size)
        if room < max(largest, fixed) or groups * _WORKGROUP < self.skin.vertex_count:
            raise ValueError(f"the device has no room for a frame of {self.skin.vertex_count} vertices")
        return int(min(room // largest, groups))

    @overload
    def deform_many(
        self,
        skinning_matrices: ArrayLike,
        *,
        normals: Literal[False] = False,
        twists: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        out_normals: None = None,
        chunk: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.float32]: ...
    @overload
    def deform_many(
        self,
        skinning_matrices: ArrayLike,
        *,
        normals: Literal[True],
        twists: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        out_normals: NDArray[np.float32] | None = None,
        chunk: int | None = None,
        threads: int | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
    @overload
    def deform_many(
        self,
        skinning_matrices: ArrayLike,
        *,
        normals: bool,
        twists: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        out_normals: NDArray[np.float32] | None = None,
        chunk: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.float32] | tuple[NDArray[np.float32], NDArray[np.float32]]: ...
    def deform_many(
        self,
        skinning_matrices: ArrayLike,
        *,
        normals: bool = False,
        twists: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        out_normals: NDArray[np.float32] | None = None,
        chunk: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.float32] | tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Deform the mesh by the skinning matrices of any number of frames.

        Parameters
        ----------
        skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
        normals : bool
            Whether to return normals, too.
        twists : (F, B, 2) array_like, optional
            As of `Skin.deform_many`.
        out, out_normals : (F, V, 3) ndarray of float32, optional
            Arrays for the results.
        chunk : int, optional
            How many frames are on the device at once; by default as many as there is room for. Results do not depend on
            it, not even in a bit.
        threads : int, optional
            The most threads that prepare poses, on the processor.

        Returns
        -------
        positions : (F, V, 3) ndarray of float32
        normals : (F, V, 3) ndarray of float32
            Only with ``normals=True``.

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `Skin.deform_many`, and for joints that are scaled or stretched where the shader would differ from it. Of
            frames before these, `out` holds the result.
        """
        if out_normals is not None and not normals:
            raise ValueError("out_normals has no effect without normals=True")
        if chunk is not None and chunk < 1:
            raise ValueError(f"chunk is {chunk}, at least 1 is needed")
        matrices = np.atleast_1d(np.asarray(skinning_matrices))
        angles = None if twists is None else np.asarray(twists)
        size = min(self.most_frames, len(matrices) if chunk is None else chunk)
        rows = [self._room("out", out, len(matrices))]
        if normals:
            rows.append(self._room("out_normals", out_normals, len(matrices)))
        for first in range(0, max(len(matrices), 1), max(size, 1)):  # no frames are checked as well
            part = slice(first, first + size)
            made = self.deform_on_device(
                matrices[part], normals=normals, twists=None if angles is None else angles[part], threads=threads
            )
            with _telling_of_loss():
                for array, buffer in zip(rows, (made.positions, made.normals), strict=False):
                    read = np.frombuffer(self.device.queue.read_buffer(buffer), np.float32)
                    array[part] = read[: array[part].size].reshape(made.shape)
        return (rows[0], rows[1]) if normals else rows[0]

    def deform_on_device(
        self,
        skinning_matrices: ArrayLike,
        *,
        normals: bool = False,
        twists: ArrayLike | None = None,
        threads: int | None = None,
    ) -> DeviceFrames:
        """The same for at most `most_frames` frames, whose results stay on the device.

        Parameters
        ----------
        skinning_matrices, normals, twists, threads
            As of `deform_many`.

        Returns
        -------
        DeviceFrames

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `deform_many`, and if there are more frames.
        """
        if normals and not self.skin.has_normals:
            raise ValueError("normals=True needs a skin with rest_normals")
        palette = self.skin.pose_palette(skinning_matrices, twists=twists, threads=threads, **self._palette_options)
        self._refuse_unlike(palette, normals)
        frame_count = len(palette.joints)
        if frame_count > self.most_frames:
            raise ValueError(f"{frame_count} frames are given, and the device has room for {self.most_frames}")
        with _telling_of_loss():
            return self._dispatch(palette, normals)

    def _dispatch(self, palette: Palette, normals: bool) -> DeviceFrames:
        frame_count, joint_count = palette.joints.shape[:2]
        size = 12 * frame_count * self.skin.vertex_count
        room = [self._make_buffer(size), self._make_buffer(size if normals else 0)]
        counts = np.array([self.skin.vertex_count, joint_count, self._set_count, normals], np.uint32)
        nothing = np.zeros(16, np.float32)
        joints = palette.joints if frame_count else nothing
        centers = nothing if palette.centers is None or not frame_count else palette.centers
        inputs = [self._vertices, self._influences, self._upload(joints), self._upload(centers)]
        buffers = [self._upload(counts, "UNIFORM"), *inputs, *room]
        entries = [{"binding": number, "resource": {"buffer": buffer}} for number, buffer in enumerate(buffers)]
        encoder = self.device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(self._pipeline)
        group = self.device.create_bind_group(layout=self._pipeline.get_bind_group_layout(0), entries=entries)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(-(-self.skin.vertex_count // _WORKGROUP), frame_count)
        work.end()
        self.device.queue.submit([encoder.finish()])
        return DeviceFrames(room[0], room[1] if normals else None, (frame_count, self.skin.vertex_count, 3))

    def _refuse_unlike(self, palette: Palette, normals: bool) -> None:
        """Refuse joints that the shader would deform otherwise than `Skin.deform`."""
        if palette.stretched_joints and (normals or self._center in ("joint_set", "optimized")):
            raise ValueError(f"{palette.stretched_joints} {_UNLIKE.format('stretched')}")
        if not palette.scaled_joints:
            return
        # Where the joints of a vertex are scaled differently, Skin.deform weighs their normals by that.
        if self._center != "joint_set" and not (normals and self._has_blended_normals):
            return
        scales = np.square(palette.joints[:, :, 3], dtype=float).sum(axis=2)
        for joints in self.skin.joint_sets:
            of_set = scales[:, joints]
            if len(joints) > 1 and (np.ptp(of_set, axis=1) > _SCALED_ALIKE * of_set.max(axis=1)).any():
                raise ValueError(f"{palette.scaled_joints} {_UNLIKE.format('scaled')}")

    def _upload(self, array: NDArray[Any], usage: str = "STORAGE") -> Any:
        return self.device.create_buffer_with_data(data=np.ascontiguousarray(array), usage=usage)

    def _make_buffer(self, size: int) -> Any:
        """For results; of nothing, too, where the shader wants one."""
        return self.device.create_buffer(size=max(size, 16), usage="STORAGE | VERTEX | COPY_SRC")

    def _room(self, name: str, given: NDArray[np.float32] | None, frame_count: int) -> NDArray[np.float32]:
        """The array that results are put into."""
        shape = (frame_count, self.skin.vertex_count, 3)
        if given is None:
            return np.empty(shape, np.float32)
        if given.shape != shape or given.dtype != np.float32:
            raise ValueError(f"{name} has shape {given.shape} of {given.dtype}, expected {shape} of float32")
        return given


_UNLIKE = "joints are {}, which a graphics processor does not deform by these options as the library does"


def refuse_unable(options: Mapping[str, Any]) -> None:
    """Refuse options of `Skin.deform` that the shader does not have.

    Raises
    ------
    ValueError
        If there is such an option.
    """
    base = base_options(options.get("amount"), options.get("base"))
    unable = {
        "method": method_name(options.get("method", DEFAULTS["method"])) not in ("linear", "spherical"),
        "rotation": options.get("rotation", "qlerp") != "qlerp",
        "damping": options.get("center") == "weighted" and options.get("damping", 0.0) > _WEIGHTED_DAMPING,
        "base": base["method"] != "linear",
    }
    known = {"method", "center", "damping", "rcond", "amount", "base", *unable}
    # An array is no default, and comparing one gives an array.
    unable |= {
        name: isinstance(value, np.ndarray) or value != DEFAULTS.get(name)
        for name, value in options.items()
        if name not in known
    }
    for name, is_unable in unable.items():
        if is_unable:
            value = f"={options[name]!r}" if isinstance(options[name], str | float) else ""
            raise ValueError(f"{name}{value} is not for graphics processors")


@contextmanager
def _telling_of_loss() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not _tells_of_loss(error):
            raise
        message = "the graphics processor was lost, as when its driver is reset: make the Deformer anew"
        raise RuntimeError(message) from error


def _tells_of_loss(error: Exception) -> bool:
    """Whether an error of wgpu, which has no type of its own for it, is of a device that is lost."""
    return "device is lost" in str(error).lower()


def _working_device() -> Any:
    """The default device, or a new one if that was lost."""
    device = default_device()
    try:
        device.create_buffer(size=16, usage="STORAGE").destroy()
    except Exception as error:
        if not _tells_of_loss(error):
            raise
        default_device.cache_clear()
        return default_device()
    return device


@functools.cache
def default_device() -> Any:
    """A device of the fastest adapter.

    Raises
    ------
    MissingExtraError
        If wgpu is not installed, or there is no adapter.
    """
    wgpu = load("wgpu", "wgpu", _PURPOSE)
    try:
        with silent_stderr():
            return wgpu.gpu.request_adapter_sync(power_preference="high-performance").request_device_sync()
    except RuntimeError as error:
        message = (
            f"{_PURPOSE} need a driver for Vulkan, Metal or Direct3D 12, and none was found; on Debian and Ubuntu"
            " mesa-vulkan-drivers has those for AMD and Intel, and one that runs on the processor"
        )
        raise MissingExtraError(message, name="wgpu") from error
