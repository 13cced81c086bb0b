# SPDX-License-Identifier: MIT
"""`sbs.options`: the types of the options of deformation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypedDict, TypeVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.names import known_name
from ..support.signatures import with_keywords

__all__ = [
    "SHORT_NAMES",
    "TURNING",
    "VARIANTS",
    "AnyFloats",
    "BlendOptions",
    "Center",
    "DeformOptions",
    "Floats",
    "InverseOptions",
    "Method",
    "MethodName",
    "MethodOptions",
    "PosedShapes",
    "Rotation",
    "ShapedOptions",
    "base_options",
    "core_options",
    "method_name",
    "refuse_idle",
    "vertex_amounts",
    "with_deform_options",
]

_Call = TypeVar("_Call", bound=Callable[..., Any])

MethodName = Literal["rigid", "linear", "spherical", "dual_quaternion"]
Method = Literal["rigid", "linear", "spherical", "dual_quaternion", "LBS", "SBS", "DQS"]
Rotation = Literal["qlerp", "average"]
Center = Literal["joint_set", "weighted", "optimized"]

SHORT_NAMES: dict[str, str] = {"linear": "LBS", "spherical": "SBS", "dual_quaternion": "DQS"}
"""Short names of methods, which are taken wherever a method is."""

Floats = NDArray[np.float32 | np.float64]

AnyFloats = NDArray[Any]
"""Results in float32 or float64: a type checker can't know which, and takes them for either."""

DAMPING = 1e-8
"""How much rotation centers are pulled to the mean of the vertices, by default."""


DEFAULTS: Mapping[str, Any] = {
    "method": "spherical",
    "rotation": "qlerp",
    "center": "joint_set",
    "damping": DAMPING,
    "rcond": None,
    "amount": None,
    "base": None,
    "twists": None,
    "correctives": None,
    "shapes": None,
    "shape_weights": None,
    "out": None,
    "out_normals": None,
    "threads": None,
}
"""Defaults of `DeformOptions`."""

TURNING = ("spherical", "dual_quaternion")
"""The methods that blend rotations, of which a vertex may have a part, the rest being linear."""

_SPHERICAL_OPTIONS = ("rotation", "center", "damping", "rcond")


class MethodOptions(TypedDict, total=False):
    """A method with its options. `base`, the method to blend with, is such a dictionary, too."""

    method: Method
    rotation: Rotation
    center: Center
    damping: float
    rcond: float | None


class PosedShapes(Protocol):
    """Shapes that the pose drives: the option ``correctives`` of `Skin.deform`, such as `sbs.correctives` makes."""

    def check(self, skin: Any, options: Mapping[str, Any], /) -> None:
        """Warn if its shapes were made for another skin or other options than these."""

    def shapes(self, skin: Any) -> Any:
        """Its `sbs.correctives.Shapes` for a skin; None if it has none."""

    def weights(self, skinning_matrices: ArrayLike) -> NDArray[np.float64]:
        """The weights of these shapes in a pose (S,), or in frames (F, S)."""


class BlendOptions(MethodOptions, total=False):
    """One method, or two that are blended."""

    amount: ArrayLike | None
    base: Method | MethodOptions | None
    twists: ArrayLike | None


class CorrectedOptions(BlendOptions, total=False):
    """A method, and shapes that the pose drives."""

    correctives: PosedShapes | None


class ShapedOptions(CorrectedOptions, total=False):
    """A method, and the shapes that are added to the rest pose before it."""

    shapes: Any  # sbs.correctives.Shapes or None
    shape_weights: ArrayLike | None


class DeformOptions(ShapedOptions, total=False):
    """The options of `Skin.deform` and `Skin.deform_many` that do not change the type of the result."""

    out: Floats | None
    out_normals: Floats | None
    threads: int | None


class InverseOptions(ShapedOptions, total=False):
    """The options of `Skin.inverse_deform` that do not change the type of the result."""

    out: Floats | None
    threads: int | None


VARIANTS: dict[str, DeformOptions] = {
    "average": {"rotation": "average"},
    "weighted": {"center": "weighted"},
    "optimized": {"center": "optimized"},
}
"""Names of spherical blend skinning with an option, where methods are compared."""

_NAMES: dict[str, MethodName] = {
    **{name: name for name in get_args(MethodName)},
    **{short: cast("MethodName", name) for name, short in SHORT_NAMES.items()},
}


def method_name(method: str, option: str = "method") -> MethodName:
    """The full name of a method, which may be given by its abbreviation, in upper or lower case.

    Raises
    ------
    ValueError
        If it is a string, but none of these; the core refuses other types.
    """
    if not isinstance(method, str):
        return method
    if method in _NAMES:
        return _NAMES[method]
    for variant, options in VARIANTS.items():
        if method.lower() == variant:
            ((name, value),) = options.items()
            meaning = f"method='spherical' with {name}={value!r}"
            raise ValueError(f"{option} must be one of {[*_NAMES]}, not {method!r}, which is {meaning}")
    return _NAMES[known_name(method, _NAMES, option)]


def refuse_idle(method: str, options: Mapping[str, Any], whose: str = "") -> None:
    """Refuse options of a method that have no effect, unless they have their default.

    Parameters
    ----------
    method : str
    options : mapping
        Some of rotation, center, damping and rcond.
    whose : str, optional
        Prefix for the name of an option in the message.

    Raises
    ------
    ValueError
        If there is such an option.
    """
    given = {name for name in _SPHERICAL_OPTIONS if options.get(name, DEFAULTS[name]) != DEFAULTS[name]}
    center = options.get("center", DEFAULTS["center"])
    if method_name(method) in ("rigid", "linear", "dual_quaternion"):
        for option in sorted(given):
            raise ValueError(f"{whose}{option} has no effect on method={method!r}, but on 'spherical' alone")
    if "rcond" in given and center in ("weighted", "optimized"):
        raise ValueError(f"{whose}rcond has no effect on center={center!r}, but on 'joint_set' alone")
    if "damping" in given and center == "optimized":
        raise ValueError(f"{whose}damping has no effect on center='optimized'")
    if given >= {"damping", "rcond"}:
        raise ValueError(f"{whose}damping has no effect beside rcond, which takes its place")


def vertex_amounts(amount: ArrayLike | None, vertex_count: int) -> ArrayLike | None:
    """One amount for each vertex, also from a single number."""
    return amount if amount is None or np.ndim(amount) else np.full(vertex_count, amount)


def base_options(amount: ArrayLike | None, base: Method | MethodOptions | None) -> dict[str, Any]:
    """The base method of an amount, with its options.

    Raises
    ------
    ValueError
        If there is a base without an amount, its method is unknown, or one of its options has no effect.
    """
    if base is None:
        return {"method": "linear"}
    if amount is None:
        raise ValueError("base has no effect without amount")
    if isinstance(base, str):
        return {"method": method_name(base, "base")}
    if not isinstance(base, dict):
        raise TypeError(f"base must be a str or a dict of options, not {type(base)!r}")
    for name in base.keys() - MethodOptions.__annotations__:
        raise TypeError(f"{name!r} is an invalid keyword argument for base")
    method = method_name(base.get("method", DEFAULTS["method"]), "base['method']")
    refuse_idle(base.get("method", method), base, "base: ")
    return {**base, "method": method}


def core_options(options: Mapping[str, Any], vertex_count: int) -> dict[str, Any]:
    """The options of `Skin.deform`, checked, as the core takes them: it blends a method with linear blending alone.

    Raises
    ------
    ValueError
        If a method is not known, an option has no effect, or methods are to be blended of which none is linear.
    """
    method, amount = method_name(options.get("method", DEFAULTS["method"])), options.get("amount")
    refuse_idle(options.get("method", method), options)
    base = base_options(amount, options.get("base"))
    if method == "linear" and base["method"] in TURNING:  # so much of the other
        kept = {name: value for name, value in options.items() if name not in MethodOptions.__annotations__}
        return core_options(
            {**kept, **base, "amount": np.subtract(1.0, np.asarray(amount), dtype=np.float64), "base": None},
            vertex_count,
        )
    if base["method"] != "linear":
        raise ValueError("methods are blended with 'linear' here: deform and deform_many alone blend others")
    if amount is not None and method not in TURNING:
        raise ValueError(f"amount has no effect on method={method!r} here, but on {TURNING} alone")
    chosen = {**options, "method": method, "amount": vertex_amounts(amount, vertex_count)}
    chosen.pop("base", None)
    return chosen


def with_deform_options(kind: type) -> Callable[[_Call], _Call]:
    """Let help show the options of a `TypedDict`, with their defaults, of a function with `**options`."""
    types = {name: getattr(hint, "__forward_arg__", hint) for name, hint in kind.__annotations__.items()}
    return with_keywords(
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
        for name, default in DEFAULTS.items()
        if name in types
    )
