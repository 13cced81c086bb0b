# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh bound to a rig: from the matrices of one frame to positions of the mesh."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from . import bendy_bones, influences, twist
from .bendy_bones import Along
from .matrices import Floats, inverse, transform_points
from .method import Amount, Method
from .place import CenterSource, Place, SkinSpace, corners, is_at_place
from .rest import BoundMesh, RestBones

# Of an affine matrix.
_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])


class Given(NamedTuple):
    """The rig that a mesh is bound to, the mesh, and the choices of the artist."""

    rig: RestBones
    surface: BoundMesh
    to_rig: Floats  #: (4, 4): from the space of the mesh object to that of the armature
    limit: int = 0  #: How many influences a vertex keeps, the heaviest; 0 for all
    #: Finds where vertices are along bones that map them along their curve; required if the rig has such bones
    along: Along | None = None
    spread: twist.Spread | None = None  #: The bones along which twists are spread


class Binding:
    """A `sbs.Skin` in the space where skinning commutes with the transforms of the mesh and of its armature.

    As long as that space is the mesh's own, see `SkinSpace`, it stays valid wherever either object moves. Otherwise
    `rebound` binds it anew when needed. A mesh without vertices, and a rig without bones that deform, is a ValueError.
    """

    #: Whether bones can be blended in another way than by weights, see `BlendedBinding`.
    blends = False

    def __init__(self, sbs: ModuleType, given: Given) -> None:
        rig, surface, to_rig, limit, along, spread = given
        if not len(surface.positions):
            raise ValueError("the mesh has no vertices")
        if not rig.deforms.any():
            raise ValueError("the armature has no bone that deforms")
        self._sbs = sbs
        self.rig = rig
        self.surface = surface
        self.limit = limit
        self.spread = spread
        bone_of_name = {name: bone for bone, name in enumerate(rig.names) if rig.deforms[bone]}
        self._bone_of_group = np.array([bone_of_name.get(name, -1) for name in surface.groups], np.int32)
        bones, weights = self._bone_influences(surface.weights)
        self._moving = np.zeros(len(rig.names), bool)
        self._moving[bones[weights > 0.0]] = True
        if not self._moving.any():
            self._moving[np.flatnonzero(rig.deforms)[0]] = True
        if self.blends:
            self._moving |= rig.deforms
        #: The bones along which twists are spread.
        self.limbs = () if spread is None else self._find_limbs(spread)
        self._limbs_of_bones = None if spread is None else self._find_limbs_of_bones(spread)
        #: The bones of the pose that move a vertex, (U,), ascending.
        self.bones = np.flatnonzero(self._moving)
        self._inverse_rests = inverse(rig.rests[self.bones])
        self.segments = rig.segments[self.bones]
        #: Whether a bone that moves vertices bends; the binding is then valid for one place of the mesh only.
        self.bends = bool((self.segments > 1).any())
        #: How many joints the bones have, which are those of `skinning_matrices`.
        self.joint_count = int(bendy_bones.joint_counts(self.segments).sum())
        self._to_rig = to_rig
        # Places along bones are valid for one place of the mesh only; its corners show whether it has moved.
        self._corners = corners(surface.positions) if self.bends or self.blends or self.limbs else None
        #: That of the skin.
        self.space = SkinSpace.find(to_rig)
        self._place: Place | None = None
        #: The rotation centers of vertices, (V, 3) in the space of the mesh object, if they were given.
        self.centers: NDArray[np.float32] | None = None
        #: The `sbs.Twist` of the limbs, in the space of the skin; None if no twist is spread.
        self.twist: Any = self._make_twist(spread) if spread is not None and self.limbs else None
        #: Its rest positions are those before shape keys and modifiers, if they are known. Its centers and the places
        #: of vertices along limbs belong to them; `deform` moves the vertices from `positions`.
        self.skin = self._make_skin(surface, *self._joint_influences(surface.positions, bones, weights, along))
        # Where vertices are along bones that bend depends on shape keys and modifiers before.
        self._unmoved: tuple[NDArray[np.int32], NDArray[np.float32]] | None = None
        if self.bends and surface.basis is not None:
            self._unmoved = self._joint_influences(surface.basis, bones, weights, along)

    def bone_influences(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The bones of the rig that move each vertex, by their numbers, and their weights, (V, K)."""
        return self._bone_influences(self.surface.weights)

    def _find_limbs(self, spread: twist.Spread) -> tuple[twist.Limb, ...]:
        """The limbs that move vertices; makes all bones move that twists are relative to.

        If they move only other meshes of the rig, one of them: amounts across joints and centers are then the same as
        if all were one mesh.
        """
        possible = twist.limbs(self.rig, spread)
        while True:
            found = tuple(limb for limb in possible if self._moving[limb.bone]) or possible[:1]
            bones = np.array([bone for limb in found for bone in (limb.bone, limb.parent, limb.child)], np.intp)
            bones = bones[bones >= 0]
            if self._moving[bones].all():
                return found
            self._moving[bones] = True

    def _find_limbs_of_bones(self, spread: twist.Spread) -> NDArray[np.intp]:
        """The limb along which each bone of the rig moves vertices, (B,): the number of one of its bones, -1 for none.

        Limbs that the rig divides itself are among them, and bones that bend: vertices between segments are along one.
        """
        bones, parents = self.rig.joints()
        skeleton = self._sbs.Skeleton(parents, self.rig.rests[bones], [self.rig.names[bone] for bone in bones.tolist()])
        along = np.searchsorted(bones, [limb.bone for limb in self.limbs])
        numbers = self._sbs.characters.limbs.limbs_of_joints(skeleton, spread.weighted[bones], along)
        found = np.full(len(self.rig.names), -1, np.intp)
        found[bones] = np.where(numbers >= 0, bones[numbers], -1)
        return np.where((found < 0) & (self.rig.segments > 1), np.arange(len(found)), found)

    def _make_twist(self, spread: twist.Spread) -> Any:
        """The `sbs.Twist` of the limbs, in the space of the skin."""
        from_rig = inverse(self.space.place(self._to_rig))
        ends = np.cumsum(bendy_bones.joint_counts(self.segments))
        starts = ends - bendy_bones.joint_counts(self.segments)
        numbers = np.searchsorted(self.bones, [(limb.bone, limb.parent, limb.child) for limb in self.limbs])
        joints, parents, children = numbers.T
        points = np.array([(limb.head, limb.tail) for limb in self.limbs]) @ from_rig[:3, :3].T + from_rig[:3, 3]
        return self._sbs.Twist(
            starts[joints],
            *points.transpose(1, 0, 2),
            # A limb hangs on the last segment of a parent that bends.
            parents=np.where([limb.parent >= 0 for limb in self.limbs], ends[parents] - 1, -1),
            children=np.where([limb.child >= 0 for limb in self.limbs], starts[children], -1),
            joint_count=self.joint_count,
            **spread.options,
        )

    def _bone_influences(self, weights: influences.VertexWeights) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        bones, values = influences.influences(weights, self._bone_of_group)
        if not self.limit:
            return bones, values
        kept: tuple[NDArray[np.int32], NDArray[np.float32]]
        kept = self._sbs.weights.limit(bones, values, self.limit, normalize=False)
        return kept

    def _joint_influences(
        self,
        positions: NDArray[np.float32],
        bones: NDArray[np.int32],
        weights: NDArray[np.float32],
        along: Along | None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        # Numbers among the moving bones; padding, whose bone may move nothing, gets that of the first.
        numbers = np.where(self._moving, np.cumsum(self._moving) - 1, 0).astype(np.int32)
        joints = numbers[bones]
        if not self.bends:
            return joints, weights
        return bendy_bones.split_segments(
            transform_points(self._to_rig, positions),
            joints,
            weights,
            inverse_rests=self._inverse_rests,
            lengths=self.rig.lengths[self.bones],
            segments=self.segments,
            curved=self._curved(along),
        )

    def _curved(self, along: Along | None) -> dict[int, Callable[[NDArray[np.floating[Any]]], Floats]]:
        """The bones that map vertices along their curve, by their numbers among the moving bones."""
        found: dict[int, Callable[[NDArray[np.floating[Any]]], Floats]] = {}
        for number, bone in enumerate(self.bones.tolist()):
            if bone in self.rig.curves:
                if along is None:
                    raise ValueError(f"bone {self.rig.names[bone]} maps vertices along its curve: `along` is needed")
                found[number] = partial(along, bone)
        return found

    def _make_skin(self, surface: BoundMesh, joints: NDArray[np.int32], weights: NDArray[np.float32]) -> Any:
        options: dict[str, Any] = {"joint_count": self.joint_count, "twist": self.twist}
        if self.centers is not None:
            options["centers"] = self.space.from_mesh(self.centers)
        # Sums other than 1 and vertices without weights are common; the status line counts the latter.
        return self._sbs.Skin.quietly(self.space.from_mesh(surface.at_rest), joints, weights, **options)

    def with_centers(self, centers: NDArray[np.float32]) -> Self:
        """The same with rotation centers of each vertex, (V, 3) in the space of the mesh object."""
        result = copy.copy(self)
        result.centers = centers
        result.skin = result._make_skin(self.surface, self.skin.joint_indices, self.skin.joint_weights)
        return result

    def optimized_centers(
        self, triangles: NDArray[np.int32], progress: Callable[[float], object], threads: int | None = None
    ) -> NDArray[np.float32]:
        """The centers of `sbs.optimized_centers` for the faces (T, 3), (V, 3) in the space of the mesh object.

        Where twists are spread, they are those of `sbs.Character.twisted_skin`.
        """
        options: dict[str, Any] = {}
        if self.twist is not None:
            options = {
                "twist": self.twist,
                "twist_positions": self.space.from_mesh(self.surface.at_rest),
                "sigma": self._sbs.skinning.twist.SIGMA,
            }
        # In the space of the mesh object, so that they are the same wherever it is.
        centers: Floats = self._sbs.optimized_centers(
            self.surface.at_rest, triangles, *self._influences_at_rest, progress=progress, threads=threads, **options
        )
        return centers.astype(np.float32)

    def has_centers_of(self, other: Binding) -> bool:
        """Whether optimized centers are the same as in another binding of the same faces."""
        if (self.twist is None) != (other.twist is None) or not self.surface.has_same_basis(other.surface):
            return False
        if self.twist is other.twist:
            return all(map(np.array_equal, self._influences_at_rest, other._influences_at_rest))
        return all(map(np.array_equal, self._influences_with_frames(), other._influences_with_frames()))

    def center_source(self, triangles: NDArray[np.int32]) -> CenterSource:
        """The source of `optimized_centers` for the faces (T, 3)."""
        rig = self.rig
        parts: list[NDArray[Any]] = [self.surface.at_rest, triangles, *self.bone_influences()]
        if self._corners is not None:
            parts += [
                rig.rests,
                rig.lengths,
                rig.segments,
                *(end for bone in sorted(rig.curves) for end in rig.curves[bone]),
            ]
            parts += [np.array([limb.bone, limb.parent, limb.child, *limb.head, *limb.tail]) for limb in self.limbs]
        options = self.spread.options if self.spread is not None and self.limbs else {}
        return CenterSource.from_arrays(parts, f"{self.limit} {sorted(options.items())}", self._to_rig)

    def is_source(self, source: CenterSource, triangles: NDArray[np.int32]) -> bool:
        """Whether centers that were found from a source are those of `optimized_centers`."""
        if self._corners is not None and not is_at_place(self._corners, source.place, self._to_rig):
            return False
        return self.center_source(triangles).digest == source.digest

    @property
    def _influences_at_rest(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Influences (V, K) of the skin before shape keys and modifiers, which do not change optimized centers."""
        return self._unmoved or (self.skin.joint_indices, self.skin.joint_weights)

    def _influences_with_frames(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The same with the frames of limbs as joints after those of bones."""
        joints, weights = self._influences_at_rest
        if self.twist is None:
            return joints, weights
        joints, shared = self.twist.influences(self.space.from_mesh(self.surface.at_rest), joints, weights)
        return joints, shared.astype(np.float32)

    def skin_with_frames(self) -> Any:
        """The skin for nodes without twists: frames of limbs are joints after those of bones."""
        if self.twist is None:
            return self.skin
        return self._sbs.Skin.quietly(self.skin.rest_positions, *self._influences_with_frames())

    def rebound(self, given: Given) -> Self:
        """The binding after possible changes, with as little work as possible; itself if nothing has changed."""
        rig, surface, spread = given.rig, given.surface, given.spread
        anew = given.limit != self.limit or not rig.same_as(self.rig) or not self._fits(given.to_rig)
        anew |= spread is not self.spread and (spread is None or not spread.same_as(self.spread))
        if not anew:
            # Their zones may differ, but this binding does not use them.
            self.rig = rig
        if surface is self.surface and not anew:
            return self
        vertices = None if anew else surface.reweighted(self.surface)
        if vertices is None:
            return self._anew(given)
        # Where vertices are along limbs, maybe of later, depends on their places before shape keys.
        has_same_positions = surface.has_same_positions(self.surface) and surface.has_same_basis(self.surface)
        if not len(vertices):
            return self if has_same_positions else self._with_positions(surface, given.along)
        other = self._with_weights(surface, vertices, given.along) if has_same_positions else None
        return other or self._anew(given)

    def _anew(self, given: Given) -> Self:
        """A new binding of the same kind."""
        return type(self)(self._sbs, given)

    def _fits(self, to_rig: Floats) -> bool:
        """Whether the binding is valid for another place of the mesh in armature space."""
        if self._corners is not None:
            return is_at_place(self._corners, to_rig, self._to_rig)
        if self._place is not None and self._place.is_at(to_rig):
            return True
        return self.space.fits(to_rig)

    def _with_positions(self, surface: BoundMesh, along: Along | None) -> Self:
        """The binding with the same weights and moved vertices."""
        surface = replace(surface, weights=self.surface.weights)
        skin = self.skin
        if surface.has_same_basis(self.surface):
            if self.bends:
                skin = self._moved_along(surface.positions, along)
        elif self.bends:
            return self._anew(Given(self.rig, surface, self._to_rig, self.limit, along, self.spread))
        else:
            skin = self._make_skin(surface, skin.joint_indices, skin.joint_weights)
        return self._changed(surface, skin)

    def _moved_along(self, positions: NDArray[np.float32], along: Along | None) -> Any:
        """The skin for positions (V, 3) in the space of the mesh object, which may be elsewhere along bending bones."""
        moved = np.flatnonzero((positions != self.surface.positions).any(axis=1))
        bones, weights = self._bone_influences(influences.take_vertices(self.surface.weights, moved))
        bending = np.zeros(len(self._moving), np.bool_)
        bending[self.bones] = self.segments > 1
        along_them = (bending[bones] & (weights > 0.0)).any(axis=1)
        if not along_them.any():
            return self.skin
        moved, bones, weights = moved[along_them], bones[along_them], weights[along_them]
        return self._update_skin(moved, *self._joint_influences(positions[moved], bones, weights, along))

    def _update_skin(self, vertices: NDArray[np.intp], joints: NDArray[np.int32], weights: NDArray[np.float32]) -> Any:
        """The skin with other influences of some vertices."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._sbs.WeightWarning)
            return self.skin.update_weights(joints, weights, vertices=vertices)

    def _with_weights(self, surface: BoundMesh, vertices: NDArray[np.intp], along: Along | None) -> Self | None:
        """The binding with other weights of some vertices; None if more than their influences changes."""
        bones, weights = self._bone_influences(influences.take_vertices(surface.weights, vertices))
        if self._unmoved is not None or not self._moving[bones[weights > 0.0]].all():
            return None
        joints, weights = self._joint_influences(surface.positions[vertices], bones, weights, along)
        return self._changed(surface, self._update_skin(vertices, joints, weights))

    def _changed(self, surface: BoundMesh, skin: Any) -> Self:
        result = copy.copy(self)
        result.surface = surface
        result.skin = skin
        return result

    def without_shapes(self) -> Self | None:
        """The binding of the mesh before shape keys and modifiers; None if that is this one."""
        if self.surface.basis is None:
            return None
        return self._changed(replace(self.surface, positions=self.surface.basis, basis=None), self.skin)

    @property
    def positions(self) -> NDArray[np.float32]:
        """Where the vertices are before they are deformed, (V, 3) in the space of the skin."""
        return self.space.from_mesh(self.surface.positions)

    @property
    def _moved(self) -> NDArray[np.float32] | None:
        """The same where it may differ from the rest positions of the skin."""
        return None if self.surface.basis is None else self.positions

    def skinning_matrices(
        self, pose: NDArray[np.floating[Any]], to_rig: Floats, segment_moves: list[Floats] | None = None
    ) -> Floats:
        """The matrices (J, 4, 4) for `skin`, by those of all bones of the rig (B, 4, 4), from bone to armature space.

        For each bone of `bones` that bends, in their order, `segment_moves` has how the ends of its segments move in
        the bone's space, (S + 1, 4, 4).
        """
        if self._place is None or not self._place.is_at(to_rig):
            place = self.space.place(to_rig)
            self._place = Place(to_rig.tobytes(), inverse(place), self._inverse_rests @ place)
        before, after = self._place.before, self._place.after
        # Blender's matrices are transposed, so the first product is a single one, in half the time of a stacked one.
        columns = pose.transpose(0, 2, 1).take(self.bones, axis=0).astype(np.float64)
        posed = (columns.reshape(-1, 4) @ before.T).reshape(-1, 4, 4).transpose(0, 2, 1)
        if self.bends and segment_moves is not None:
            bending = iter(segment_moves)
            matrices = np.concatenate(
                [
                    posed[bone] @ next(bending) @ after[bone] if count > 1 else posed[bone : bone + 1] @ after[bone]
                    for bone, count in enumerate(self.segments)
                ]
            )
        else:
            matrices = posed @ after
        matrices[:, 3] = _LAST_ROW
        return matrices

    def means_by_weight(self, values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Means (V,) of numbers of all bones of the rig (B,) by the weights of vertices; 1 without weights."""
        of_joints = np.repeat(values[self.bones], bendy_bones.joint_counts(self.segments)).astype(np.float32)
        weights = self.skin.joint_weights
        sums = weights.sum(axis=1, dtype=np.float32)
        means = np.einsum("vk,vk->v", weights, of_joints[self.skin.joint_indices], dtype=np.float32)
        result: NDArray[np.float32] = np.divide(means, sums, out=np.ones_like(means), where=sums > 0.0)
        return result

    def has_influences_of(self, other: Binding) -> bool:
        """Whether it was made of another binding by moving vertices or by giving them centers, if at all."""
        return self.bones is other.bones and self.surface.weights is other.surface.weights

    @property
    def untwisted(self) -> Floats | None:
        """Twists (L, 2) of limbs that are not spread: each limb then follows its bone alone. None without limbs."""
        return np.zeros((len(self.limbs), 2)) if self.limbs else None

    def twists(self, matrices: Floats, previous: Floats | None) -> Floats:
        """The twists of the limbs by the matrices of `skinning_matrices`, (L, 2), continued from earlier ones."""
        found: Floats = self.twist.angles(matrices, previous=previous)
        return found

    def joints_of_bones(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Influences (V, K) of bones: of one that bends, its first joint."""
        bones, weights = self._bone_influences(self.surface.weights)
        numbers = np.where(self._moving, np.cumsum(self._moving) - 1, 0)
        counts = bendy_bones.joint_counts(self.segments)
        return (np.cumsum(counts) - counts)[numbers[bones]].astype(np.int32), weights

    def heads_in_mesh(self) -> NDArray[np.float32]:
        """Where the bones that move vertices begin at rest, (U, 3) in the space of the mesh object."""
        return transform_points(inverse(self._to_rig), self.rig.rests[self.bones, :3, 3].astype(np.float32))

    def across_joints(self, across: float) -> NDArray[np.float32]:
        """The amounts (V,) of `sbs.twist_amounts`: 1 along limbs, `across` where joints meet.

        Raises ValueError if twists are not to be spread.
        """
        if self._limbs_of_bones is None:
            raise ValueError("across_joints needs spread")
        amounts_across = self._sbs.characters.limbs.amounts_across
        amounts: Floats = amounts_across(*self.bone_influences(), self._limbs_of_bones, across)
        return amounts.astype(np.float32)

    def deform(
        self,
        matrices: Floats,
        method: Method,
        amount: Amount | None = None,
        threads: int | None = None,
        *,
        twists: Floats | None = None,
    ) -> NDArray[np.float32]:
        """Positions (V, 3), in the space of the skin, by the matrices of `skinning_matrices`.

        Twists (L, 2) of limbs are in place of those of the matrices, which are never more than half a turn.
        """
        if amount is None:
            return self._deformed(matrices, method, twists, threads)
        if method.name in ("spherical", "dual_quaternion") and amount.method == "linear":
            return self._deformed(matrices, method, twists, threads, amount=amount.weights)
        wholly = self._deformed(matrices, method, twists, threads)
        others = self._deformed(matrices, Method(amount.method), twists, threads)
        return others + amount.weights[:, None] * (wholly - others)

    def _deformed(
        self, matrices: Floats, method: Method, twists: Floats | None, threads: int | None, **options: Any
    ) -> NDArray[np.float32]:
        """Positions (V, 3) by one method alone; other options are those of `sbs.Skin.deform`."""
        if method.name == "none":
            return self.positions
        if method.name == "spherical":
            options.update(rotation=method.rotation, center=method.center)
        found: NDArray[np.float32] = self.skin.deform(
            matrices, method=method.name, rest_positions=self._moved, twists=twists, threads=threads, **options
        )
        return found
