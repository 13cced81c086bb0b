# SPDX-License-Identifier: MIT
"""The methods that are compared, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Unpack, cast

from numpy.typing import ArrayLike

from ..characters.character import Character
from ..characters.limbs import ACROSS, limb_twist, twist_amounts
from ..correctives.flesh import Flesh
from ..muscles import MuscleCover
from ..skinning.options import SHORT_NAMES, VARIANTS, AnyFloats, BlendOptions, DeformOptions, PosedShapes
from ..skinning.skin import Skin
from ..support.names import known_name
from ..weights.spherical import for_spherical


class Deformer(Protocol):
    """Anything that deforms a mesh: a `Skin`, or something to compare with it."""

    def deform(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""


def deformed(
    skin: Deformer, skinning_matrices: ArrayLike, rest_positions: ArrayLike | None, options: DeformOptions
) -> AnyFloats:
    """Positions (V, 3) of a pose, of other rest positions if there are any, as blend shapes make them."""
    if rest_positions is None:
        return skin.deform(skinning_matrices, **options)
    shapeable: Any = skin  # a skin of ours; others that cannot have other rest positions say so
    positions: AnyFloats = shapeable.deform(skinning_matrices, rest_positions=rest_positions, **options)
    return positions


@dataclass(frozen=True)
class NamedMethod:
    """A way to deform.

    Attributes
    ----------
    label : str
        For headings.
    options : DeformOptions
        The options of `Skin.deform`.
    """

    label: str
    options: DeformOptions

    def skin(self, character: Character) -> Deformer:
        """The skin to deform: the character's own, or one with optimized centers if the method needs them."""
        return character.optimized_skin() if self.options.get("center") == "optimized" else character.skin


@dataclass(frozen=True)
class TwistMethod(NamedMethod):
    """A method that spreads the twists of limbs along their bones; on a character without limbs it does all else.

    Attributes
    ----------
    across : float
        How much of the method there is where joints meet, in place of linear blending: see `sbs.twist_amounts`.
    joints : tuple of str or None
        The joints of the bones that twists are spread along, in place of the joints that `sbs.limb_twist` finds.
    """

    across: float = 1.0
    joints: tuple[str, ...] | None = None

    def skin(self, character: Character) -> Deformer:
        """The skin to deform, with the bones that `sbs.limb_twist` finds, or of the joints told."""
        twist, optimized = limb_twist(character, self.joints), self.options.get("center") == "optimized"
        skin = character.twisted_skin(twist, optimized=optimized)
        return skin if self.across == 1 else Blended(skin, twist_amounts(character, twist, self.across))


@dataclass(frozen=True, eq=False)
class Blended:
    """A skin with an amount of its own, a number or (V,)."""

    whole: Deformer
    amount: ArrayLike

    def deform(
        self,
        skinning_matrices: ArrayLike,
        /,
        *,
        rest_positions: ArrayLike | None = None,
        **options: Unpack[DeformOptions],
    ) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""
        options["amount"] = self.amount
        return deformed(self.whole, skinning_matrices, rest_positions, options)

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""
        options["amount"] = self.amount
        return self.whole.deform_many(skinning_matrices, **options)


def without_amount(method: NamedMethod, character: Character) -> tuple[Skin, BlendOptions]:
    """The skin that a method deforms, and all options of it, also the amount that the method has of its own."""
    skin, options = method.skin(character), cast("BlendOptions", {**method.options})
    if isinstance(skin, Relaxed):
        skin = skin.bare
    if isinstance(skin, Blended):
        options["amount"] = skin.amount
        skin = skin.whole
    assert isinstance(skin, Skin)  # of the methods of the package
    return skin, options


def corrected(method: NamedMethod, correctives: PosedShapes | None) -> NamedMethod:
    """A method with shapes that the pose drives."""
    options: DeformOptions = {**method.options, "correctives": correctives}
    return replace(method, label=f"{method.label}, with correctives", options=options)


@dataclass(frozen=True)
class MuscleMethod(NamedMethod):
    """A method whose deformed skin covers muscles.

    Attributes
    ----------
    cover : MuscleCover
        The muscles, bound to the character that is deformed.
    """

    cover: MuscleCover

    @classmethod
    def spherical(cls, cover: MuscleCover) -> MuscleMethod:
        """SBS with muscles."""
        return cls("SBS with muscles", {"method": "spherical"}, cover)

    def skin(self, character: Character) -> Deformer:
        """The skin to deform.

        Raises
        ------
        ValueError
            If blend shapes move the mesh away from muscles, which are bound to it at rest.
        """
        if character.mesh.shapes:
            raise ValueError("muscles are bound to the mesh at rest, which blend shapes change")
        return Covered(super().skin(character), self.cover)


@dataclass(frozen=True, eq=False)
class Covered:
    """A skin that covers muscles."""

    bare: Deformer
    cover: MuscleCover

    def deform(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""
        return self._covered(self.bare.deform(skinning_matrices, **options), skinning_matrices)

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""
        return self._covered(self.bare.deform_many(skinning_matrices, **options), skinning_matrices)

    def _covered(self, positions: AnyFloats, skinning_matrices: ArrayLike) -> AnyFloats:
        self.cover.apply(positions, skinning_matrices)
        return positions


@dataclass(frozen=True)
class FleshMethod(TwistMethod):
    """A method whose deformed skin is relaxed as flesh."""

    def skin(self, character: Character) -> Deformer:
        """The skin to deform."""
        return Relaxed(super().skin(character), Flesh(character))


@dataclass(frozen=True)
class BestMethod(FleshMethod):
    """The same with weights for spherical blending."""

    def skin(self, character: Character) -> Deformer:
        """The skin to deform."""
        return super().skin(character.with_weights(*for_spherical(character)))


@dataclass(frozen=True, eq=False)
class Relaxed:
    """A skin that is relaxed as flesh. Shapes move it as they do without."""

    bare: Deformer
    flesh: Flesh

    def deform(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""
        return self._relaxed(self.bare.deform, skinning_matrices, options)

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""
        return self._relaxed(self.bare.deform_many, skinning_matrices, options)

    def _relaxed(
        self, deform: Callable[..., AnyFloats], skinning_matrices: ArrayLike, options: DeformOptions
    ) -> AnyFloats:
        found, plain = deform(skinning_matrices, **options), cast("dict[str, Any]", {**options})
        shapes = [plain.pop(name, None) for name in ("rest_positions", "correctives")]
        has_shapes = any(shape is not None for shape in shapes)
        self.flesh.apply(found, skinning_matrices, bare=deform(skinning_matrices, **plain) if has_shapes else None)
        return found


ACROSS_BEST = 0.5
"""How much of the method there is across joints, with weights for it."""

METHODS: dict[str, NamedMethod] = {
    "LBS": NamedMethod("linear (LBS)", {"method": "linear"}),
    "DQS": NamedMethod("dual quaternion (DQS)", {"method": "dual_quaternion"}),
    "SBS": NamedMethod("spherical (SBS)", {"method": "spherical"}),
    "average": NamedMethod("SBS, spherical average", {"method": "spherical", **VARIANTS["average"]}),
    "weighted": NamedMethod("SBS, weighted centers", {"method": "spherical", **VARIANTS["weighted"]}),
    "optimized": NamedMethod("SBS, optimized centers", {"method": "spherical", **VARIANTS["optimized"]}),
    "twist": TwistMethod("SBS, weighted centers, twists spread", {"method": "spherical", "center": "weighted"}),
    "smooth twist": TwistMethod("smooth twist", {"method": "spherical", "center": "optimized"}, across=ACROSS),
    "flesh": FleshMethod("smooth twist, relaxed", {"method": "spherical", "center": "optimized"}, across=ACROSS),
    "best": BestMethod("weights for it, relaxed", {"method": "spherical", "center": "optimized"}, across=ACROSS_BEST),
}
DEFAULT = "smooth twist"
"""How a character is deformed unless a method is named."""

FORMER_NAMES = {"half twist": "smooth twist"}


def method_key(name: str) -> str:
    """The key of a method in `METHODS`, also by its full name, ``"linear"`` for LBS and so on, or by a former name.

    Raises
    ------
    ValueError
        If no method has such a name.
    """
    others = SHORT_NAMES | FORMER_NAMES
    known = known_name(name, (*METHODS, *others), "method")
    return others.get(known, known)


def chosen(
    names: tuple[str, ...] | list[str] | None = None, *, limbs: tuple[str, ...] | Literal["auto", "none"] = "auto"
) -> dict[str, NamedMethod]:
    """The methods with these names, as `method_key` knows them, in this order; without names all that are quick.

    Parameters
    ----------
    names : sequence of str, optional
    limbs : tuple of str, "auto" or "none"
        The joints of the bones along which methods spread twists; by default the joints that `sbs.limb_twist` finds.
        With ``"none"`` such methods are left out.

    Raises
    ------
    ValueError
        If no method has such a name, or one of those named would be left out.
    """
    quick = [name for name, method in METHODS.items() if not isinstance(method, FleshMethod)]
    keys = [method_key(name) for name in names or quick]
    for name in keys:
        if names and limbs == "none" and isinstance(METHODS[name], TwistMethod):
            raise ValueError(f"method {name!r} spreads twists along limbs, and there are to be none")
    found = {name: METHODS[name] for name in keys}
    if limbs == "none":
        return {name: method for name, method in found.items() if not isinstance(method, TwistMethod)}
    return {
        name: replace(method, joints=limbs) if isinstance(method, TwistMethod) and limbs != "auto" else method
        for name, method in found.items()
    }
