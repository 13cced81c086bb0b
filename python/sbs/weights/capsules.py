# SPDX-License-Identifier: MIT
"""Weights by distance from the bones, each in two capsules.

Komura, T. COMP3360: Data-Driven Computer Animation, lecture "Skinning".
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..support import json_files
from ..support.files import replacing
from ..support.json_files import is_number, read_entries
from ..support.text import well_formed
from .influences import Influences

__all__ = ["Capsules", "capsule_weights"]

Floats = NDArray[np.float64]
Falloff = Literal["linear", "smooth", "quadratic"]
Outside = Literal["nearest", "unweighted", "error"]

FORMAT = "sbs-capsules"
VERSION = 2
# The version of files without fall-offs, which older readers understand, too.
_VERSION_BEFORE_FALLOFFS = 1

# The keys of a capsule with numbers, and how many.
_VECTORS = {"head": 3, "tail": 3, "inner_radii": 2, "outer_radii": 2}
_OPTIONAL = {"name", "multiplier", "enabled", "falloff"}

# In the order of sbs_capsules_falloff.
_FALLOFFS: tuple[Falloff, ...] = get_args(Falloff)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Capsules:
    """An inner and an outer capsule around the bone of each joint. Immutable; `dataclasses.replace` makes changed ones.

    A capsule is all that is within a radius of a bone, the segment from its head to its tail. The radius goes linearly
    from head to tail, as in an envelope of Blender. A bone of no length has spheres of the radii at its head.

    Parameters
    ----------
    heads, tails : (J, 3) array_like
        The ends of the bones, in the space of the points that are weighted.
    inner_radii, outer_radii : (J, 2) array_like
        At head and at tail. Not negative, and no inner radius above the outer one.
    multipliers : (J,) array_like, optional
        How strong each is beside the others, not negative; 0 is as if not enabled. By default 1.
    enabled : (J,) array_like of bool, optional
        Which capsules have an effect. By default all.
    names : sequence of J str, optional
        Of the joints, all different.
    falloffs : sequence of J {"linear", "smooth", "quadratic"} or None, optional
        How the weight of each falls from the inner to the outer capsule; None for the `falloff` of `capsule_weights`.

    Attributes
    ----------
    heads, tails : (J, 3) float64 ndarray, read-only
    inner_radii, outer_radii : (J, 2) float64 ndarray, read-only
    multipliers : (J,) float64 ndarray, read-only
    enabled : (J,) bool ndarray, read-only
    names : tuple of J str, or None
    falloffs : tuple of J str or None, or None if none has its own

    Raises
    ------
    ValueError
        If shapes disagree, there is no capsule, a number is NaN or infinite, a radius or multiplier negative, an inner
        radius above its outer one, a name occurs twice, or there is no such fall-off.
    TypeError
        If an array does not contain real numbers, or `enabled` is not bool.

    Examples
    --------
    An upper arm and a forearm along x, which meet at x = 1:

    >>> import dataclasses
    >>> arm = Capsules([[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]], [[0.2, 0.2]] * 2, [[0.4, 0.4]] * 2)
    >>> points = [[0.5, 0.1, 0.0], [1.0, 0.1, 0.0]]
    >>> capsule_weights(points, arm, dense=True)
    array([[1. , 0. ],
           [0.5, 0.5]])
    >>> capsule_weights(points, dataclasses.replace(arm, multipliers=[3, 1]), dense=True)
    array([[1.  , 0.  ],
           [0.75, 0.25]])
    """

    heads: Floats
    tails: Floats
    inner_radii: Floats
    outer_radii: Floats
    multipliers: Floats
    enabled: NDArray[np.bool_]
    names: tuple[str, ...] | None
    falloffs: tuple[Falloff | None, ...] | None

    def __init__(
        self,
        heads: ArrayLike,
        tails: ArrayLike,
        inner_radii: ArrayLike,
        outer_radii: ArrayLike,
        multipliers: ArrayLike | None = None,
        enabled: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        falloffs: Sequence[Falloff | None] | None = None,
    ) -> None:
        _core.check_capsules(heads, tails, inner_radii, outer_radii, multipliers, enabled)
        count = len(np.asarray(heads))
        arrays = {"heads": heads, "tails": tails, "inner_radii": inner_radii, "outer_radii": outer_radii}
        arrays["multipliers"] = np.ones(count) if multipliers is None else multipliers
        arrays["enabled"] = np.ones(count, bool) if enabled is None else enabled
        for field, array in arrays.items():
            object.__setattr__(self, field, _core.owned(array, field, bool if field == "enabled" else float))
        object.__setattr__(self, "names", None if names is None else _check_names(names, len(self.heads)))
        object.__setattr__(self, "falloffs", None if falloffs is None else _check_falloffs(falloffs, len(self.heads)))

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        off = len(self) - int(np.count_nonzero(self.enabled))
        return f"<sbs.weights.Capsules {len(self)} capsule{'s' if len(self) > 1 else ''}, {off} off>"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (*self._arrays[:-1], self.names, self.falloffs)

    @property
    def _arrays(
        self,
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, NDArray[np.bool_], NDArray[np.int32] | None]:
        """The arrays that `_core` takes."""
        codes = None
        if self.falloffs is not None:
            codes = np.array([-1 if own is None else _FALLOFFS.index(own) for own in self.falloffs], np.int32)
        return self.heads, self.tails, self.inner_radii, self.outer_radii, self.multipliers, self.enabled, codes

    def count_outside(self, points: ArrayLike, *, threads: int | None = None) -> int:
        """How many points (V, 3) are outside of all outer capsules, where the option `outside` decides."""
        return _core.count_outside(points, *self._arrays, threads=threads)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write a file for `from_json`, in the format of docs/capsules.schema.json.

        The file is written completely or not at all, of the lowest version that is enough.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        count = len(self)
        falloffs = self.falloffs or (None,) * count
        version = _VERSION_BEFORE_FALLOFFS if self.falloffs is None else VERSION
        entries: list[dict[str, Any]] = [
            {
                **({} if self.names is None else {"name": well_formed(self.names[joint])}),
                "head": list(map(float, self.heads[joint])),
                "tail": list(map(float, self.tails[joint])),
                "inner_radii": list(map(float, self.inner_radii[joint])),
                "outer_radii": list(map(float, self.outer_radii[joint])),
                "multiplier": float(self.multipliers[joint]),
                "enabled": bool(self.enabled[joint]),
                **({} if falloffs[joint] is None else {"falloff": falloffs[joint]}),
            }
            for joint in range(count)
        ]
        lines = ",\n".join("    " + json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in entries)
        text = f'{{\n  "format": "{FORMAT}",\n  "version": {version},\n  "capsules": [\n{lines}\n  ]\n}}\n'
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Capsules:
        """Read a file of `to_json`, bit for bit.

        Raises
        ------
        ValueError
            If it is not a file of capsules, is of a newer version, or has invalid capsules; the message says where.
        OSError
            If it cannot be read.
        """
        content = json_files.read(path, _read_content)
        try:
            return cls(**content)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error


class _Options(TypedDict, total=False):
    """Options of `capsule_weights` on which its type does not depend."""

    falloff: Falloff
    outside: Outside
    limit: int | None
    threads: int | None


@overload
def capsule_weights(
    points: ArrayLike, capsules: Capsules, *, dense: Literal[False] = False, **options: Unpack[_Options]
) -> Influences: ...
@overload
def capsule_weights(
    points: ArrayLike, capsules: Capsules, *, dense: Literal[True], **options: Unpack[_Options]
) -> NDArray[np.float32 | np.float64]: ...
@overload
def capsule_weights(
    points: ArrayLike, capsules: Capsules, *, dense: bool, **options: Unpack[_Options]
) -> Influences | NDArray[np.float32 | np.float64]: ...
def capsule_weights(
    points: ArrayLike,
    capsules: Capsules,
    *,
    falloff: Falloff = "linear",
    outside: Outside = "nearest",
    limit: int | None = None,
    dense: bool = False,
    threads: int | None = None,
) -> Influences | NDArray[np.float32 | np.float64]:
    """Weights of points by their distances from bones.

    The weight of joint j is k_j / sum k, with k_j = m_j f_j / d_j: m_j the multiplier, d_j the distance from the bone,
    f_j 1 within the inner capsule, 0 outside of the outer one, and between them a fall-off of
    x = (d_j - r_inner) / (r_outer - r_inner), with the radii at the nearest point of the bone. A point on a bone,
    d_j = 0, belongs only to the bones that it lies on, in proportion to their multipliers.

    Parameters
    ----------
    points : (V, 3) array_like
        float32 or float64, which is also the type of the weights; all is computed in double.
    capsules : Capsules
    falloff : {"linear", "smooth", "quadratic"}
        1 - x; (1 - x)^2 (1 + 2 x), which is level at both ends; or (1 - x)^2, which is level at the outer one. For
        capsules that have no fall-off of their own.
    outside : {"nearest", "unweighted", "error"}
        For points outside of all outer capsules: weight 1 for the joint of smallest d - r_outer, no weight, or a
        ValueError that counts them. With ``"nearest"``, weights are continuous across the outer surface of a capsule if
        its inner radius is smaller, except where it meets that of another one; outside of all capsules they jump where
        two are equally near.
    limit : int, optional
        The most joints per point, the heaviest (ties: the lowest) are kept and normalized. By default all.
    dense : bool
        Whether to return a matrix.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit, nor, except for ties, on the order of the
        capsules.

    Returns
    -------
    Influences, or (V, J) ndarray with ``dense=True``
        The arrays of `Influences` are (V, `limit`), or as wide as the point with the most joints needs.

    Raises
    ------
    ValueError
        If there are no points, one is NaN or infinite, an option is out of its range, a point is outside of all outer
        capsules with ``outside="error"``, or no capsule is enabled with ``outside="nearest"``.
    TypeError
        If `points` are not real numbers.
    """
    if dense:
        return _core.capsule_weights_dense(
            points, *capsules._arrays, falloff=falloff, outside=outside, limit=limit, threads=threads
        )
    return Influences(
        *_core.capsule_weights(
            points, *capsules._arrays, falloff=falloff, outside=outside, limit=limit, threads=threads
        )
    )


def _check_names(names: Sequence[str], count: int) -> tuple[str, ...]:
    if len(names) != count:
        raise ValueError(f"names has length {len(names)}, expected {count}")
    seen: dict[str, int] = {}
    for joint, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"names[{joint}] must be a str, not {type(name).__name__}")
        if seen.setdefault(name, joint) != joint:
            raise ValueError(f"names[{joint}] = {name!r} is also the name of joint {seen[name]}")
    return tuple(names)


def _check_falloffs(falloffs: Sequence[Falloff | None], count: int) -> tuple[Falloff | None, ...] | None:
    if isinstance(falloffs, str):
        raise TypeError(f"falloffs must hold one for each of {count} capsules, not be a str")
    if len(falloffs) != count:
        raise ValueError(f"falloffs has length {len(falloffs)}, expected {count}")
    for joint, own in enumerate(falloffs):
        if own is not None and own not in _FALLOFFS:
            words = ", ".join(map(repr, _FALLOFFS))
            raise ValueError(f"falloffs[{joint}] must be None or one of {words}, not {own!r}")
    return tuple(falloffs) if any(own is not None for own in falloffs) else None


def _read_content(document: Any) -> dict[str, Any]:
    entries = read_entries(document, kind=FORMAT, newest=VERSION, key="capsules")
    for index, entry in enumerate(entries):
        _check_entry(entry, f"capsules[{index}]", document["version"])
    names = [entry.get("name") for entry in entries]
    named = sum(name is not None for name in names)
    if 0 < named < len(names):
        raise ValueError(f"capsules[{names.index(None)}] has no name, but others have")
    return {
        "heads": [entry["head"] for entry in entries],
        "tails": [entry["tail"] for entry in entries],
        "inner_radii": [entry["inner_radii"] for entry in entries],
        "outer_radii": [entry["outer_radii"] for entry in entries],
        "multipliers": [float(entry.get("multiplier", 1.0)) for entry in entries],
        "enabled": [entry.get("enabled", True) for entry in entries],
        "names": list(map(well_formed, names)) if named else None,
        "falloffs": [entry.get("falloff") for entry in entries],
    }


def _check_entry(entry: Any, place: str, version: int) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{place} must be an object")
    for key, count in _VECTORS.items():
        if key not in entry:
            raise ValueError(f"{place} has no {key!r}")
        numbers = entry[key]
        if not isinstance(numbers, list) or len(numbers) != count or not all(map(is_number, numbers)):
            raise ValueError(f"{place}: {key!r} must be a list of {count} numbers")
    unknown = entry.keys() - _VECTORS.keys() - _OPTIONAL
    if version == _VERSION_BEFORE_FALLOFFS:
        unknown |= entry.keys() & {"falloff"}
    if unknown:
        raise ValueError(f"{place}: unknown key {min(unknown)!r}")
    if not is_number(entry.get("multiplier", 1.0)):
        raise ValueError(f"{place}: 'multiplier' must be a number")
    if not isinstance(entry.get("enabled", True), bool):
        raise ValueError(f"{place}: 'enabled' must be true or false")
    for key in ("name", "falloff"):
        if not isinstance(entry.get(key, ""), str):
            raise ValueError(f"{place}: {key!r} must be a string")
