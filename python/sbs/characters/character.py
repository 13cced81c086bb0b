# SPDX-License-Identifier: MIT
"""Characters: a mesh, its skeleton and its animations. `sbs.load` makes them from files."""

from __future__ import annotations

import copy
import os
import pathlib
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, SupportsIndex, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.animation import Animation, Animations
from ..rigging.engine_centers import engine_centers, engine_options, still_centered
from ..rigging.parts import selected, source_with_nodes, unknown
from ..rigging.rig import Rig
from ..rigging.shapes import ShapeMotion
from ..rigging.skeleton import Skeleton
from ..rigging.triangle_mesh import Mesh, MeshPart
from ..rigging.twist_joints import animation_with_frames, mesh_with_frames, rig_with_frames
from ..skinning.centers import CenterOptions, optimized_centers, with_center_options
from ..skinning.influences import heaviest, of_joints, tidy, with_rows
from ..skinning.options import AnyFloats, BlendOptions, PosedShapes
from ..skinning.reports import WeightReport, WeightWarning
from ..skinning.skin import Skin
from ..skinning.twist import SIGMA, Twist
from ..support.callers import warn
from ..support.markup import listed, table
from .limbs import limb_twist, twist_amounts

__all__ = ["Animation", "Animations", "Character", "Mesh", "MeshPart", "Parts"]

PathLike = str | os.PathLike[str]
WeightType = Literal["float32", "uint16", "uint8"]
Engine = Literal["three"]

SHADER_INFLUENCES = 8
"""As many of a vertex as shaders have room for: JOINTS_0 and JOINTS_1."""


class CharacterOptions(TypedDict, total=False):
    """The options of `Character.deform`, none of which chooses a method."""

    rest_positions: ArrayLike | None
    correctives: PosedShapes | None
    threads: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Character:
    """A mesh bound to a skeleton, and its animations. Immutable: `with_weights` and `with_mesh` make changed copies.

    Rest positions, bind matrices and joint positions are in the *bind space* of the mesh. The *scene* is where a file
    places the character. Skinning matrices of `animations`, `rest_matrices` and `skinning_matrices` map from bind space
    to the scene::

        character.deform(character.animations["Run"].skinning_matrices(0.5))
        character.deform(character.skinning_matrices(rotations))

    `sbs.load` makes them one space: it brings the mesh and the joints at bind to where the file has them in the scene,
    turned, moved and scaled as by the root of the skeleton. So vertices without weights, which stay at their rest
    position whatever the pose, are there too.

    Attributes
    ----------
    name : str
    mesh : Mesh
    skeleton : Skeleton
        Bind matrices are scaled to a determinant of 1 or -1, so that joints have the unit of length of the mesh.
    rig : Rig
        The joints with all nodes above and between them, which animations move.
    animations : Animations
        A tuple that can also be indexed by name: ``animations["Run"]``.
    strict : bool, optional
        Argument only: refuse weights that need repair, see `Skin`.
    options : dict
        The options of `Skin.deform` that the file asks for, as in ``character.skin.deform(matrices,
        **character.options)``; `deform` takes them. Empty for linear blending, as for all glTF but those of
        `for_engine`.
    source : optional
        The glTF file that the character is from. As long as triangles and nodes are those of the file, `save` writes
        the character into it, so that materials, textures, morph targets, cameras and all else are kept. None to save
        the character alone.

    Raises
    ------
    ValueError
        For everything that `Skin` refuses, already when the character is made; and if the skeleton or the animations
        are not those of the rig.

    Warns
    -----
    WeightWarning
        If weights need repair. Given when the character is made, not again when its skin is.
    """

    name: str
    mesh: Mesh
    skeleton: Skeleton
    rig: Rig
    animations: Animations = field(default_factory=Animations)
    strict: InitVar[bool] = False
    options: BlendOptions = field(default_factory=BlendOptions)
    source: object = None

    def __post_init__(self, strict: bool) -> None:
        if not isinstance(self.animations, Animations):
            object.__setattr__(self, "animations", Animations(self.animations))
        self.rig.check_skeleton(self.skeleton)
        for number, animation in enumerate(self.animations):
            if not animation.rig.same_as(self.rig):
                raise ValueError(
                    f"animations[{number}], {animation.name!r}, moves another rig than that of the character"
                )
        report = WeightReport(*_core.check_skin(**bound(self.mesh, self.skeleton), strict=strict))
        if str(report):
            warn(report.warning(len(self.mesh.positions)), WeightWarning)

    def __repr__(self) -> str:
        counts = {
            "vertices": len(self.mesh.positions),
            "joints": len(self.skeleton),
            "animations": len(self.animations),
        }
        return f"<sbs.Character {self.name!r}, {', '.join(f'{what}: {count}' for what, count in counts.items())}>"

    def _repr_html_(self) -> str:
        mesh = self.mesh
        rows = {
            "vertices": len(mesh.positions),
            "triangles": len(mesh.triangles),
            "meshes": listed([part.name for part in mesh.parts]),
            "blend shapes": listed([shape.name for shape in mesh.shapes]),
            "joints": len(self.skeleton),
            "animations": listed(self.animations.names),
        }
        return table(f"sbs.Character {self.name!r}", rows) + self.skeleton._repr_html_()

    @classmethod
    def from_mesh(cls, mesh: Mesh, skeleton: Skeleton, *, name: str = "", strict: bool = False) -> Character:
        """Bind a mesh to a skeleton. The character's own pose is the bind pose.

        Parameters
        ----------
        mesh : Mesh
        skeleton : Skeleton
        name : str, optional
        strict : bool, optional
            Refuse weights that need a repair, see `Skin`.

        Raises
        ------
        ValueError
            As of `Skin`.
        """
        return cls(name, mesh, skeleton, Rig.from_skeleton(skeleton), strict=strict)

    def with_mesh(self, mesh: Mesh, *, strict: bool = False) -> Character:
        """The character with another mesh, which its skin and saved files then have.

        If positions, triangles, weights or centers differ, centers and amounts of `for_engine` are dropped.

        Parameters
        ----------
        mesh : Mesh
            With influences of the same joints, in the same bind space.
        strict : bool, optional
            Refuse weights that need a repair, see `Skin`.

        Returns
        -------
        Character

        Raises
        ------
        ValueError
            As of `Skin`.

        Warns
        -----
        WeightWarning
            Weights will be repaired.
        """
        mesh, options = still_centered(mesh, self.mesh, self.options)
        return replace(self, mesh=mesh, options=options, strict=strict)

    def with_weights(
        self,
        joint_indices: ArrayLike,
        joint_weights: ArrayLike,
        *,
        vertices: ArrayLike | None = None,
        strict: bool = False,
    ) -> Character:
        """The character with other weights, which its skin and saved files then have.

        With `vertices`, and if the skin has been made already, influences of others are copied, as by
        `Skin.update_weights`.

        Parameters
        ----------
        joint_indices, joint_weights : (M, K) array_like
            The new influences, of all vertices or of those in `vertices`, for example from `sbs.weights`.
        vertices : (M,) array_like of int or (V,) array_like of bool, optional
            The vertices that change; if one occurs several times, its last row counts.
        strict : bool, optional
            Refuse weights that need a repair, see `Skin`.

        Returns
        -------
        Character

        Raises
        ------
        ValueError, TypeError
            As of `Skin`.
        IndexError
            If a vertex is out of range.

        Warns
        -----
        WeightWarning
            If weights need repair; it counts those of the whole mesh.

        Examples
        --------
        >>> import sbs
        >>> hand = sbs.samples.load("hand")
        >>> rigid = hand.with_weights(*sbs.weights.limit(*hand.skin.influences(), 1))
        >>> rigid.skin.max_influences
        1
        """
        mesh, count = self.mesh, len(self.mesh.positions)
        chosen = np.arange(count) if vertices is None else np.arange(count)[np.asarray(vertices)]
        new = of_joints(joint_indices, joint_weights, len(chosen), len(self.skeleton), mesh.joint_weights.dtype)
        if vertices is None:
            return self.with_mesh(replace(mesh, joint_indices=new[0], joint_weights=new[1]), strict=strict)
        if "skin" not in vars(self) or engine_centers(mesh, self.options) is not None:
            new = with_rows((mesh.joint_indices, mesh.joint_weights), chosen, new)
            return self.with_mesh(replace(mesh, joint_indices=new[0], joint_weights=new[1]), strict=strict)
        skin = self.skin.update_weights(*new, vertices=chosen, strict=strict)
        changed = copy.copy(self)
        mesh = replace(mesh, joint_indices=skin.joint_indices, joint_weights=skin.joint_weights)
        vars(changed).update(mesh=mesh, skin=skin)
        for made in ("scene_matrix", "smooth_twist"):  # which depend on the weights
            vars(changed).pop(made, None)
        return changed

    @cached_property
    def skin(self) -> Skin:
        """The mesh bound to the skeleton, made when it is first asked for.

        It is bare: its own `Skin.deform` blends about joint sets by default, and spreads no twist. `deform` does.
        """
        return Skin.quietly(**bound(self.mesh, self.skeleton))

    @cached_property
    def smooth_twist(self) -> tuple[Skin, BlendOptions]:
        """The skin and the options of `Skin.deform` for *smooth twist*, made when they are first asked for.

        They are ``character.twisted_skin(sbs.limb_twist(character), optimized=True)``, with ``center="optimized"`` and
        the amounts of `sbs.twist_amounts`. Optimized centers take some seconds for a large mesh.
        """
        twist = limb_twist(self)
        options = BlendOptions(center="optimized", amount=twist_amounts(self, twist))
        return self.twisted_skin(twist, optimized=True), options

    @property
    def default_method(self) -> tuple[Skin, BlendOptions]:
        """The skin and the options by which `deform` deforms: `options` of the file, or else `smooth_twist`."""
        return (self.skin, self.options) if self.options else self.smooth_twist

    @overload
    def deform(
        self, skinning_matrices: ArrayLike, *, normals: Literal[False] = False, **options: Unpack[CharacterOptions]
    ) -> AnyFloats: ...
    @overload
    def deform(
        self, skinning_matrices: ArrayLike, *, normals: Literal[True], **options: Unpack[CharacterOptions]
    ) -> tuple[AnyFloats, AnyFloats]: ...
    def deform(
        self, skinning_matrices: ArrayLike, *, normals: bool = False, **options: Unpack[CharacterOptions]
    ) -> AnyFloats | tuple[AnyFloats, AnyFloats]:
        """Deform the mesh by *smooth twist*, as the add-on for Blender, the command line and drafts of correctives do.

        If the file asks for another method, by `options`, it is that one. For others, `skin`, `twisted_skin` and
        `optimized_skin` make skins, whose `Skin.deform` has all options.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
            One pose, such as of `skinning_matrices`.
        normals : bool
            Whether to return normals, too.
        rest_positions, correctives, threads : optional
            As of `Skin.deform`.

        Returns
        -------
        (V, 3) ndarray, or two with `normals`

        Raises
        ------
        TypeError
            If an option chooses a method.
        ValueError
            As of `Skin.deform`.

        Examples
        --------
        >>> import sbs
        >>> hand = sbs.samples.load("hand")
        >>> hand.deform(hand.animations[0].skinning_matrices(0.5)).shape
        (1360, 3)
        """
        for name in options.keys() - CharacterOptions.__annotations__:
            raise TypeError(f"{name!r} is no option of Character.deform: Skin.deform, of a skin of it, has all options")
        skin, method = self.default_method
        deform: Any = skin.deform  # whose overloads need to know `normals`
        found: AnyFloats | tuple[AnyFloats, AnyFloats] = deform(skinning_matrices, normals=normals, **method, **options)
        return found

    @cached_property
    def parts(self) -> Parts:
        """The meshes of the file, each as a character of its own on the same skeleton, rig and animations.

        They can be looked up by name. The skinning matrices of the whole are theirs, too::

            matrices = hero.animations["Run"].skinning_matrices(0.5)
            for part in hero.parts:
                part.skin.deform(matrices, **part.options)

        Positions are the rows `MeshPart.vertices` of those of the whole. A character of one mesh is its only part.
        Saving a part writes it into the file that it is from, like the whole.
        """
        if len(self.mesh.parts) <= 1:
            return Parts((self,))
        return Parts(self._of_parts([number]) for number in range(len(self.mesh.parts)))

    def _of_parts(self, numbers: list[int]) -> Character:
        chosen = selected(self.mesh, self.animations, self.options, self.source, numbers)
        part = copy.copy(self)
        for made in ("skin", "smooth_twist", "scene_matrix", "parts"):
            vars(part).pop(made, None)
        name = ", ".join(part.name for part in chosen.mesh.parts)
        vars(part).update(
            name=name, mesh=chosen.mesh, animations=chosen.animations, options=chosen.options, source=chosen.source
        )
        return part

    @property
    def rest_matrices(self) -> NDArray[np.float64]:
        """Skinning matrices (J, 4, 4) of the pose in the file, bind space to scene.

        If this is the bind pose, they are all equal.
        """
        return self.rig.rest_matrices

    @cached_property
    def scene_matrix(self) -> NDArray[np.float64]:
        """Bind space to scene (4, 4): the rest matrix of the root above the joint that carries the most weight.

        The identity if the character is from a file.
        """
        return self.rig.scene_matrix(self.mesh.joint_indices, self.mesh.joint_weights)

    def skinning_matrices(
        self,
        local: ArrayLike | None = None,
        *,
        quaternions: ArrayLike | None = None,
        rotation_vectors: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Skinning matrices of a pose given joint by joint, bind space to scene.

        Parameters
        ----------
        local : (..., J, 3), (..., J, 4), (..., J, 3, 3) or (..., J, 4, 4) array_like
            T(j), the movement of each joint in its own axes: rotation vectors, quaternions (w, x, y, z) or matrices, as
            `Skeleton.forward` takes them. The identity for all joints gives the bind pose.
        quaternions : (..., J, 4) array_like
            Quaternions, in place of `local`.
        rotation_vectors : (..., J, 3) array_like
            Rotation vectors, in place of `local`.

        Returns
        -------
        (..., J, 4, 4) ndarray of float64

        Raises
        ------
        ValueError, TypeError
            As `Skeleton.forward`.
        """
        pose = self.skeleton.forward(local, quaternions=quaternions, rotation_vectors=rotation_vectors)
        return self.scene_matrix @ self.skeleton.skinning_matrices(pose)

    def shape_motion(self, animation: Animation | None = None) -> ShapeMotion:
        """The blend shapes of the mesh in an animation, by default in the pose in the file.

        They are applied to the rest positions, before joints move these::

            talk = character.animations["Talk"]
            character.deform(
                talk.skinning_matrices(0.5), rest_positions=character.shape_motion(talk).rest_positions(0.5)
            )

        Normals stay those of the mesh without shapes.

        Parameters
        ----------
        animation : Animation, optional

        Raises
        ------
        ValueError
            If the animation moves shapes that the mesh does not have.
        """
        tracks = () if animation is None else animation.shape_tracks
        count = len(self.mesh.shapes)
        for track in tracks:
            if track.nodes.size and not 0 <= track.nodes.min() <= track.nodes.max() < count:
                raise ValueError(f"the animation moves shape {track.nodes.max()}, but the mesh has {count}")
        return ShapeMotion(self.mesh.positions, self.mesh.shapes, tracks)

    @with_center_options()
    def optimized_centers(self, **options: Unpack[CenterOptions]) -> NDArray[np.float64]:
        """Optimized centers of rotation (V, 3) of the mesh; options as of `sbs.optimized_centers`."""
        mesh = self.mesh
        return optimized_centers(mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, **options)

    @with_center_options()
    def optimized_skin(self, **options: Unpack[CenterOptions]) -> Skin:
        """The skin with centers for ``center="optimized"``; options as of `sbs.optimized_centers`."""
        return Skin.quietly(**bound(self.mesh, self.skeleton) | {"centers": self.optimized_centers(**options)})

    @with_center_options(sigma=SIGMA)
    def twisted_skin(self, twist: Twist | None, *, optimized: bool = False, **options: Unpack[CenterOptions]) -> Skin:
        """The skin with the twists of limbs spread along their bones.

        Parameters
        ----------
        twist : Twist or None
            See `sbs.limb_twist`. Without, or of no bones, the skin is that of a character without limbs: it spreads
            nothing.
        optimized : bool
            Whether it has centers for ``center="optimized"``. They are found for the joints that it has with the twist,
            which those of `optimized_centers` do not suit.
        sigma, refinement, tolerance, progress, threads, cache : optional
            As of `sbs.optimized_centers`; by default ``sigma=1.0``, as weights may differ more where twists are not
            left to the centers (docs/twist.md).

        Raises
        ------
        ValueError
            If there are options of centers without `optimized`, or the twist is of another number of joints.
        """
        if options and not optimized:
            raise ValueError(f"{next(iter(options))} has no effect without optimized=True")
        mesh = self.mesh
        arguments = bound(mesh, self.skeleton)
        if optimized:
            options.setdefault("sigma", SIGMA)
            arguments["centers"] = optimized_centers(
                mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, twist=twist, **options
            )
        return Skin.quietly(**arguments, twist=twist)

    def with_twist_joints(self, twist: Twist, *, rate: float = 30.0) -> Character:
        """The character with the frames of a twist as joints of its own, for engines that know linear blending alone.

        Each limb bone gets `Twist.frames` more joints, children of its joint, which animations turn; a vertex that
        follows the bone follows the two frames that it lies between. Linear blending of it is that of `twisted_skin`.
        It needs more frames than spherical blending, because a limb loses 1 - cos(x / 2) of its radius where two
        frames differ by an angle x: 6 keep 95% of it in a twist by 170 degrees. For poses from elsewhere, saved GLB
        files tell how these joints turn (docs/engines.md).

        Parameters
        ----------
        twist : Twist
            Such as ``sbs.limb_twist(character, frames=6)``.
        rate : float
            How many keys a second the frames get at least. They also get one at each key of the animation.

        Returns
        -------
        Character
            With animations that follow twists beyond half a turn.

        Raises
        ------
        ValueError
            If the twist is of another number of joints, or the rate is not positive and finite.

        Warns
        -----
        UserWarning
            If a joint has scales along its axes at bind that differ by more than rounding, so that it misses its place.
        """
        if twist.joint_count != len(self.skeleton):
            raise ValueError(f"twist is of {twist.joint_count} joints, where there are {len(self.skeleton)}")
        if not 0 < rate < np.inf:
            raise ValueError(f"rate is {rate}; it must be positive and finite")
        skeleton, rig = rig_with_frames(self.skeleton, self.rig, twist)
        moving = (animation_with_frames(animation, self.skeleton, rig, twist, rate) for animation in self.animations)
        options = self.options if self.mesh.centers is None else BlendOptions()
        mesh, source = mesh_with_frames(self.mesh, twist), source_with_nodes(self.source, self.rig, rig)
        return Character(self.name, mesh, skeleton, rig, Animations(moving), options=options, source=source)

    @with_center_options(sigma=SIGMA)
    def for_engine(
        self,
        engine: Engine,
        *,
        twist: Twist | Literal["auto"] | None = "auto",
        amount: ArrayLike | None = None,
        rate: float = 30.0,
        **options: Unpack[CenterOptions],
    ) -> Character:
        """The character as shaders of an engine blend it spherically, to be saved as GLB.

        Saved primitives have an attribute ``_SBS_CENTER`` of each vertex: its optimized center of rotation in the space
        of the file's positions, and the amount of spherical blending. `mesh.centers` and `options` of the result have
        both, also when it is loaded again, so that ``made.skin.deform(matrices, **made.options)`` is what the engine
        shows. Changes of positions, triangles or weights drop them. Influences are sorted, the heaviest first, and
        at most eight of a vertex are kept.

        Parameters
        ----------
        engine : "three"
            three.js.
        twist : Twist, optional
            Limbs whose twists are spread: by joints of their own, see `with_twist_joints`. By default those of
            `sbs.limb_twist`; None for no limb.
        amount : float or (V,) array_like, optional
            How much spherical blending there is, from 0 to 1; the rest is linear. By default that of
            `sbs.twist_amounts`.
        rate : float
            As of `with_twist_joints`.
        sigma, refinement, tolerance, progress, threads, cache : optional
            As of `sbs.optimized_centers`; by default ``sigma=1.0``.

        Raises
        ------
        ValueError
            If the engine is unknown, an amount is not between 0 and 1, or as of `with_twist_joints` and
            `sbs.limb_twist`.

        Warns
        -----
        WeightWarning
            If a vertex has more than eight influences, with the largest weight that is lost.
        """
        if engine not in get_args(Engine):
            raise ValueError(f"engine is {engine!r}; known are: {', '.join(get_args(Engine))}")
        if twist == "auto":
            twist = limb_twist(self)
        count = len(self.mesh.positions)
        amounts = np.asarray(twist_amounts(self, twist) if amount is None else amount, np.float64)
        if amounts.shape not in ((), (count,)):
            raise ValueError(f"amount has shape {amounts.shape}, expected () or ({count},)")
        if not np.all((amounts >= 0.0) & (amounts <= 1.0)):
            raise ValueError("amount must be between 0 and 1")
        centers = np.asarray(self.twisted_skin(twist, optimized=True, **options).centers)
        made = self if twist is None or not twist.bone_count else self.with_twist_joints(twist, rate=rate)
        mesh = replace(made.mesh, centers=centers)
        lost = tidy(mesh.joint_indices, mesh.joint_weights).joint_weights[:, SHADER_INFLUENCES:].sum(axis=1)
        if lost.any():
            warn(
                f"{np.count_nonzero(lost)} vertices have more than {SHADER_INFLUENCES} influences;"
                f" up to {lost.max():.2%} of their weight is left out",
                WeightWarning,
            )
        joint_indices, joint_weights = heaviest(mesh.joint_indices, mesh.joint_weights, SHADER_INFLUENCES)
        mesh = replace(mesh, joint_indices=joint_indices, joint_weights=joint_weights.astype(mesh.joint_weights.dtype))
        own = np.all(centers == mesh.positions, axis=1)
        return replace(made, mesh=mesh, options=engine_options(np.where(own, 0.0, amounts)))

    def save(self, path: PathLike, *, weights: WeightType = "float32") -> None:
        """Write the character to a file: mesh, joints, influences, animations. ``sbs formats`` lists the formats.

        Weights are written as the skin uses them: bad ones dropped, one for each joint of a vertex, with sum 1, the
        largest first. If a character from glTF still has its triangles and nodes, all else of the file that it is from
        is kept as it was, such as materials, textures, and weights that were not changed. Other formats get no
        materials; in these, vertices without weights follow one more joint, which stands still. An existing file is
        replaced once the new one is complete.

        Parameters
        ----------
        path : str or path-like
            Its ending chooses the format: ".glb", or another that `sbs.formats` can write.
        weights : "float32", "uint16" or "uint8", optional
            How GLB stores weights; the integers are normalized and their sum is exact.

        Raises
        ------
        ValueError
            If no format that can be written ends so, or `weights` is not one of the three.
        MissingExtraError
            If the format needs a package that is not installed.
        OSError
            If the file cannot be written.
        """
        from .. import formats

        target = pathlib.Path(path)
        write = formats.written(target, "write").write
        assert write is not None  # a format with that role has one
        write(
            target,
            self.name,
            self.mesh,
            self.rig,
            self.animations,
            weights=weights,
            source=self.source,
            options=self.options,
        )


def bound(mesh: Mesh, skeleton: Skeleton) -> dict[str, Any]:
    """The arguments for the skin of a mesh on a skeleton."""
    return {
        "rest_positions": mesh.positions,
        "joint_indices": mesh.joint_indices,
        "joint_weights": mesh.joint_weights,
        "joint_count": len(skeleton.parents),
        "parents": skeleton.parents,
        "joint_positions": skeleton.joint_positions,
        "rest_normals": mesh.normals,
        "centers": mesh.centers,
    }


class Parts(tuple[Character, ...]):
    """The meshes of a character in their order, which can also be looked up by name.

    Raises
    ------
    KeyError
        By ``parts[name]``, if no mesh has that name.
    """

    __slots__ = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(part.mesh.parts[0].name if part.mesh.parts else part.name for part in self)

    @overload
    def __getitem__(self, key: str | SupportsIndex) -> Character: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Character, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Character | tuple[Character, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.names:
            raise KeyError(unknown(key, self.names))
        return super().__getitem__(self.names.index(key))
