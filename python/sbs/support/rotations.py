# SPDX-License-Identifier: MIT
"""`sbs.rotations`: rotation matrices from and to other forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "euler_from_matrices",
    "matrices_from_axis_angle",
    "matrices_from_euler",
    "matrices_from_quaternions",
    "matrices_from_rotation_vectors",
    "quaternions_from_matrices",
    "rotation_vectors_from_matrices",
]

Floats = NDArray[np.float64]

# A sine or cosine this near to 0 counts as 0: then the first and the last axis of the Euler angles coincide.
_GIMBAL_LOCK = 16.0 * float(np.finfo(np.float64).eps)


def matrices_from_euler(angles: ArrayLike, sequence: str, *, degrees: bool = False) -> Floats:
    """Rotation matrices of Euler angles.

    Parameters
    ----------
    angles : (..., 3) array_like
        The angle about each axis of the sequence, in its order.
    sequence : str
        Three axes. ``"XYZ"`` (capitals) rotates about the axes of the moving body: X(a) Y(b) Z(c). ``"xyz"`` rotates
        about the fixed axes, z last: Z(c) Y(b) X(a). In both cases there are the 6 sequences of three different axes,
        and the 6 whose last axis is the first again, such as ``"ZXZ"``.
    degrees : bool
        Whether the angles are in degrees.

    Returns
    -------
    (..., 3, 3) ndarray of float64

    Raises
    ------
    ValueError
        If `sequence` is none of these, or `angles` does not have three columns.

    Examples
    --------
    >>> matrices_from_euler([90.0, 0.0, 0.0], "ZYX", degrees=True).round(3) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    axes, intrinsic = _sequence_axes(sequence)
    angles = _vectors(angles, "angles", 3)
    if degrees:
        angles = np.radians(angles)
    first, second, third = (_about_axis(axis, angles[..., i]) for i, axis in enumerate(axes))
    return first @ second @ third if intrinsic else third @ second @ first


def euler_from_matrices(matrices: ArrayLike, sequence: str, *, degrees: bool = False) -> Floats:
    """Euler angles of rotation matrices, the inverse of `matrices_from_euler`.

    If the second angle makes the axes of the first and the third coincide (gimbal lock), the first angle of a sequence
    in capitals, or the third of one in small letters, is 0. The angles always give the same matrix again.

    Parameters
    ----------
    matrices : (..., 3, 3) array_like
        Rotations; the result for other matrices is unspecified.
    sequence : str
        As in `matrices_from_euler`.
    degrees : bool
        Whether to return degrees.

    Returns
    -------
    (..., 3) ndarray of float64
        The first and third angle in [-180, 180] degrees; the second in [-90, 90] for three different axes, in [0, 180]
        otherwise.

    Raises
    ------
    ValueError
        If `sequence` is unknown, or `matrices` is not a stack of 3 by 3 matrices.
    """
    axes, intrinsic = _sequence_axes(sequence)
    matrices = _matrices(matrices)
    # Rotations about the fixed axes x, y, z are those about the moving axes Z, Y, X: one formula serves both.
    i, j, last = axes if intrinsic else axes[::-1]
    k = 3 - i - j
    sign = 1.0 if (j - i) % 3 == 1 else -1.0

    # The first angle comes from the column or row that the second one tilts; the second then needs no division.
    if last == i:
        sine, cosine = matrices[..., j, i], -sign * matrices[..., k, i]
        second = np.arctan2(np.hypot(sine, cosine), matrices[..., i, i])
    else:
        sine, cosine = -sign * matrices[..., j, k], matrices[..., k, k]
        second = np.arctan2(sign * matrices[..., i, k], np.hypot(sine, cosine))
    locked = np.hypot(sine, cosine) <= _GIMBAL_LOCK
    first = np.where(locked, 0.0, np.arctan2(sine, cosine))

    # After rotating back by the first angle, row j depends only on the third one, even in gimbal lock.
    row = np.cos(first)[..., None] * matrices[..., j, :] + sign * np.sin(first)[..., None] * matrices[..., k, :]
    third = np.arctan2(-sign * row[..., k], row[..., j]) if last == i else np.arctan2(sign * row[..., i], row[..., j])

    angles = np.stack([first, second, third] if intrinsic else [third, second, first], axis=-1)
    return np.degrees(angles) if degrees else angles


def matrices_from_quaternions(quaternions: ArrayLike) -> Floats:
    """Rotation matrices of quaternions (w, x, y, z) of any length but 0.

    Parameters
    ----------
    quaternions : (..., 4) array_like

    Returns
    -------
    (..., 3, 3) ndarray of float64

    Raises
    ------
    ValueError
        If a quaternion is zero or not finite, or `quaternions` does not have four columns.
    """
    quaternions = _unit_vectors(_vectors(quaternions, "quaternions", 4), "quaternions")
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    matrices = np.empty((*w.shape, 3, 3))
    matrices[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrices[..., 0, 1] = 2.0 * (x * y - w * z)
    matrices[..., 0, 2] = 2.0 * (x * z + w * y)
    matrices[..., 1, 0] = 2.0 * (x * y + w * z)
    matrices[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrices[..., 1, 2] = 2.0 * (y * z - w * x)
    matrices[..., 2, 0] = 2.0 * (x * z - w * y)
    matrices[..., 2, 1] = 2.0 * (y * z + w * x)
    matrices[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return matrices


def quaternions_from_matrices(matrices: ArrayLike) -> Floats:
    """Unit quaternions (w, x, y, z) of rotation matrices, with w >= 0.

    Each quaternion is computed from its largest component, so that no digits are lost (Shepperd, "Quaternion from
    Rotation Matrix", Journal of Guidance and Control 1(3), 1978).

    Parameters
    ----------
    matrices : (..., 3, 3) array_like
        Rotations; the result for other matrices is unspecified.

    Returns
    -------
    (..., 4) ndarray of float64

    Raises
    ------
    ValueError
        If `matrices` is not a stack of 3 by 3 matrices.
    """
    m = _matrices(matrices)
    # 4 q q^T: each row is the quaternion times four times one of its components.
    products = np.empty((*m.shape[:-2], 4, 4))
    for axis in range(3):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        products[..., axis + 1, axis + 1] = 1.0 + m[..., axis, axis] - m[..., j, j] - m[..., k, k]
        products[..., 0, axis + 1] = products[..., axis + 1, 0] = m[..., k, j] - m[..., j, k]
        products[..., j + 1, k + 1] = products[..., k + 1, j + 1] = m[..., j, k] + m[..., k, j]
    products[..., 0, 0] = 1.0 + np.trace(m, axis1=-2, axis2=-1)

    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    rows = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    quaternions: Floats = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.where(quaternions[..., :1] < 0.0, -quaternions, quaternions)


def matrices_from_axis_angle(axes: ArrayLike, angles: ArrayLike, *, degrees: bool = False) -> Floats:
    """Rotation matrices from axes and angles.

    Parameters
    ----------
    axes : (..., 3) array_like
        Of any length but 0.
    angles : (...) array_like
        Broadcasts with the stack of axes.
    degrees : bool
        Whether the angles are in degrees.

    Returns
    -------
    (..., 3, 3) ndarray of float64

    Raises
    ------
    ValueError
        If an axis is zero or not finite, `axes` does not have three columns, or the shapes do not broadcast.
    """
    axes = _unit_vectors(_vectors(axes, "axes", 3), "axes")
    half = 0.5 * np.asarray(angles, dtype=np.float64)
    if degrees:
        half = np.radians(half)
    sines, axes = np.broadcast_arrays(np.sin(half)[..., None], axes)
    cosines = np.broadcast_to(np.cos(half)[..., None], (*axes.shape[:-1], 1))
    return matrices_from_quaternions(np.concatenate([cosines, sines[..., :1] * axes], axis=-1))


def matrices_from_rotation_vectors(vectors: ArrayLike, *, degrees: bool = False) -> Floats:
    """Rotation matrices from rotation vectors: axes whose lengths are the angles, as in poses of SMPL.

    Parameters
    ----------
    vectors : (..., 3) array_like
        Zero is no rotation.
    degrees : bool
        Whether the lengths are in degrees.

    Returns
    -------
    (..., 3, 3) ndarray of float64

    Raises
    ------
    ValueError
        If a number is not finite, or `vectors` does not have three columns.

    Examples
    --------
    >>> matrices_from_rotation_vectors([[0.0, 0.0, 0.0], [0.0, 0.0, 90.0]], degrees=True).round(3)[:, :2, :2] + 0.0
    array([[[ 1.,  0.],
            [ 0.,  1.]],
    <BLANKLINE>
           [[ 0., -1.],
            [ 1.,  0.]]])
    """
    vectors = _vectors(vectors, "vectors", 3)
    for place in np.argwhere(~np.isfinite(vectors))[:1]:
        found = vectors[tuple(place)]
        raise ValueError(f"vectors[{', '.join(map(str, place))}] is {found}, where a finite number is needed")
    if degrees:
        vectors = np.radians(vectors)
    angles = _lengths(vectors)[..., None]
    # sin(angle / 2) / angle, which is 1/2 at 0; NumPy's sinc has a factor of pi.
    shares = 0.5 * np.sinc(angles / (2.0 * np.pi))
    return matrices_from_quaternions(np.concatenate([np.cos(0.5 * angles), shares * vectors], axis=-1))


def rotation_vectors_from_matrices(matrices: ArrayLike, *, degrees: bool = False) -> Floats:
    """Rotation vectors of rotation matrices, the inverse of `matrices_from_rotation_vectors`.

    Parameters
    ----------
    matrices : (..., 3, 3) array_like
        Rotations; the result for other matrices is unspecified.
    degrees : bool
        Whether to return lengths in degrees.

    Returns
    -------
    (..., 3) ndarray of float64
        At most 180 degrees long; for a half turn one of the two.

    Raises
    ------
    ValueError
        If `matrices` is not a stack of 3 by 3 matrices.
    """
    quaternions = quaternions_from_matrices(matrices)
    sines = _lengths(quaternions[..., 1:])[..., None]
    angles = 2.0 * np.arctan2(sines, quaternions[..., :1])
    vectors = np.where(sines == 0.0, 2.0, angles / np.where(sines == 0.0, 1.0, sines)) * quaternions[..., 1:]
    return np.degrees(vectors) if degrees else vectors


def _lengths(vectors: Floats) -> Floats:
    """Lengths (...) of vectors (..., 3), without under- or overflow of squares."""
    lengths: Floats = np.hypot(np.hypot(vectors[..., 0], vectors[..., 1]), vectors[..., 2])
    return lengths


def _sequence_axes(sequence: str) -> tuple[list[int], bool]:
    """The three axes as numbers, and whether they move with the body."""
    axes = ["xyz".find(letter) for letter in sequence.lower()]
    one_kind = sequence in (sequence.upper(), sequence.lower())
    if len(axes) != 3 or min(axes) < 0 or axes[0] == axes[1] or axes[1] == axes[2] or not one_kind:
        raise ValueError(
            f"sequence must be three of X, Y, Z or three of x, y, z, none twice in a row, not {sequence!r}"
        )
    return axes, sequence.isupper()


def _about_axis(axis: int, angles: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) about a coordinate axis by angles (...)."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrices = np.zeros((*angles.shape, 3, 3))
    matrices[..., axis, axis] = 1.0
    matrices[..., j, j] = matrices[..., k, k] = np.cos(angles)
    matrices[..., k, j] = np.sin(angles)
    matrices[..., j, k] = -matrices[..., k, j]
    return matrices


def _vectors(vectors: ArrayLike, name: str, columns: int) -> Floats:
    result = np.asarray(vectors, dtype=np.float64)
    if result.ndim == 0 or result.shape[-1] != columns:
        raise ValueError(f"{name} has shape {result.shape}, expected (..., {columns})")
    return result


def _matrices(matrices: ArrayLike) -> Floats:
    result = np.asarray(matrices, dtype=np.float64)
    if result.shape[-2:] != (3, 3):
        raise ValueError(f"matrices has shape {result.shape}, expected (..., 3, 3)")
    return result


def _unit_vectors(vectors: Floats, name: str) -> Floats:
    # Divide by the largest component first, so that no square under- or overflows.
    largest = np.max(np.abs(vectors), axis=-1, keepdims=True)
    bad = np.argwhere(~((largest > 0.0) & np.isfinite(largest))[..., 0])
    if len(bad):
        place = f"[{', '.join(map(str, bad[0]))}]" if vectors.ndim > 1 else ""
        raise ValueError(f"{name}{place} is zero or not finite")
    scaled = vectors / largest
    result: Floats = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return result
