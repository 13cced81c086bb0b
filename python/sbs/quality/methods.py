# SPDX-License-Identifier: MIT
"""The methods that are compared, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Unpack

from numpy.typing import ArrayLike

from ..character import Character
from ..limbs import limb_twist, twist_amounts
from ..options import SHORT_NAMES, AnyFloats, DeformOptions


class Deformer(Protocol):
    """Anything that deforms a mesh: a `Skin`, or something to compare with it."""

    def deform(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""


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
    """A method that spreads the twists of limbs along their bones; on a character without limbs it is as without.

    Attributes
    ----------
    across : float
        How much of the method there is where joints meet, in place of linear blending: see `sbs.twist_amounts`.
    """

    across: float = 1.0

    def skin(self, character: Character) -> Deformer:
        """The skin to deform, with the bones that `sbs.limb_twist` finds."""
        twist = limb_twist(character)
        if twist is None:
            return super().skin(character) if self.across == 1 else Blended(super().skin(character), self.across)
        skin = character.twisted_skin(twist, optimized=self.options.get("center") == "optimized")
        return skin if self.across == 1 else Blended(skin, twist_amounts(character, twist, self.across))


@dataclass(frozen=True, eq=False)
class Blended:
    """A skin with an amount of its own.

    Attributes
    ----------
    whole : Deformer
    amount : (V,) ndarray or float
    """

    whole: Deformer
    amount: ArrayLike

    def deform(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""
        options["amount"] = self.amount
        return self.whole.deform(skinning_matrices, **options)

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""
        options["amount"] = self.amount
        return self.whole.deform_many(skinning_matrices, **options)


METHODS: dict[str, NamedMethod] = {
    "LBS": NamedMethod("linear (LBS)", {"method": "linear"}),
    "DQS": NamedMethod("dual quaternion (DQS)", {"method": "dual_quaternion"}),
    "SBS": NamedMethod("spherical (SBS)", {"method": "spherical"}),
    "average": NamedMethod("SBS, spherical average", {"method": "spherical", "rotation": "average"}),
    "weighted": NamedMethod("SBS, weighted centers", {"method": "spherical", "center": "weighted"}),
    "optimized": NamedMethod("SBS, optimized centers", {"method": "spherical", "center": "optimized"}),
    "twist": TwistMethod("SBS, weighted centers, twists spread", {"method": "spherical", "center": "weighted"}),
    "half twist": TwistMethod(
        "half SBS, optimized centers, twists spread", {"method": "spherical", "center": "optimized"}, across=0.5
    ),
}


def chosen(names: tuple[str, ...] | list[str] | None = None) -> dict[str, NamedMethod]:
    """The methods with these names, in this order; all if there are no names. ``"linear"`` is LBS, and so on.

    Raises
    ------
    ValueError
        If no method has such a name.
    """
    keys = [SHORT_NAMES.get(name, name) for name in names or METHODS]
    for name in keys:
        if name not in METHODS:
            raise ValueError(f"no method {name!r}; there are: {', '.join(METHODS)}")
    return {name: METHODS[name] for name in keys}
