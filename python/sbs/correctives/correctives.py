# SPDX-License-Identifier: MIT
"""Correctives of a character: poses, the skin as it should look in them, and the shapes that make it so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, Unpack
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.skeleton import Skeleton
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import BlendOptions, MethodOptions
from ..skinning.shapes import Shape, Shapes
from ..skinning.skin import Skin
from ..skinning.twist import as_frames
from ..support.callers import warn
from ..support.names import nearest_name
from .drivers import Driver, Part, core_drivers, find_coordinates, find_driver
from .making import made_for
from .solving import TOLERANCE, After, Solution, Target, solve, sum_of_shapes

__all__ = ["Corrective", "Correctives"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Corrective:
    """A pose, and the shape that it drives.

    Attributes
    ----------
    name : str
    driver : Driver
        The joints whose rotations drive it.
    coordinates : (n, 3) ndarray of float64
        Their rotation vectors in the pose: the part that drives.
    target : Target, optional
        The skin as it should look in the pose, from which shapes are solved. None of a shape that was given.
    shape : Shape, optional
        Offsets that are added to the rest pose; None until it is solved.
    made_for : str, optional
        The method, its options and the twist of the skin that the shape was solved, drafted or fitted for, in words.
        None if that is not known, as of files of earlier versions.
    """

    name: str
    driver: Driver
    coordinates: Floats
    target: Target | None = None
    shape: Shape | None = None
    made_for: str | None = None

    def __repr__(self) -> str:
        solved = "not solved" if self.shape is None else f"vertices: {len(self.shape.vertices)}"
        return f"<sbs.correctives.Corrective {self.name!r} of {', '.join(self.driver.joints)}, {solved}>"


class Correctives:
    """Shapes that poses drive, for the option ``correctives`` of `Skin.deform`.

    They are given as meshes in poses, as they should look. These are kept, so that shapes can be solved again when the
    method, the weights or the centers change. Threads may deform with correctives at once while nothing changes these.

    Parameters
    ----------
    skeleton : Skeleton

    Examples
    --------
    A knee that is bent is too thin behind the joint: one vertex is moved in that pose.

    >>> import numpy as np
    >>> import sbs
    >>> woman = sbs.samples.load("woman")
    >>> local = np.zeros((len(woman.skeleton), 3))
    >>> local[woman.skeleton.index("LeftLeg")] = [2.0, 0.0, 0.0]
    >>> pose = woman.skinning_matrices(local)
    >>> sculpted = woman.skin.deform(pose)
    >>> sculpted[100] += [0.0, 0.0, 0.5]
    >>> correctives = sbs.correctives.Correctives(woman.skeleton)
    >>> correctives.add(pose, sculpted, joints=["LeftLeg"], name="knee")
    <sbs.correctives.Corrective 'knee' of LeftLeg, not solved>
    >>> correctives.solve(woman.skin)["knee"].vertices
    array([100], dtype=int32)
    >>> deformed = woman.skin.deform(pose, correctives=correctives)
    >>> bool(np.allclose(deformed, sculpted, atol=1e-5))
    True
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self._correctives: dict[str, Corrective] = {}
        self._changed()

    def _changed(self) -> None:
        """Forget shapes and drivers that were made of the correctives."""
        self._shapes: WeakKeyDictionary[Skin, Shapes] = WeakKeyDictionary()
        self._checked: WeakKeyDictionary[Skin, set[tuple[Any, ...]]] = WeakKeyDictionary()
        vars(self).pop("_drivers", None)

    def __len__(self) -> int:
        return len(self._correctives)

    def __iter__(self) -> Iterator[Corrective]:
        return iter(self._correctives.values())

    def __contains__(self, name: object) -> bool:
        return name in self._correctives

    def __getitem__(self, key: str | int) -> Corrective:
        """A corrective by its name or number.

        Raises
        ------
        KeyError, IndexError
            If there is none.
        """
        if not isinstance(key, str):
            return list(self._correctives.values())[key]
        if key not in self._correctives:
            raise KeyError(f"no corrective is named {key!r}{nearest_name(key, self.names)}")
        return self._correctives[key]

    def __repr__(self) -> str:
        return f"<sbs.correctives.Correctives: {', '.join(self.names) or 'none'}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all, in the order in which they were added, which is that of `weights`."""
        return tuple(self._correctives)

    # --------------------------------------------------------------------------------------------------- what there is

    def add(
        self,
        skinning_matrices: ArrayLike,
        posed: ArrayLike,
        *,
        joints: Iterable[str | int],
        name: str | None = None,
        part: Part = "swing",
        vertices: ArrayLike | None = None,
    ) -> Corrective:
        """Add the mesh in a pose as it should look.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
            The pose.
        posed : (V, 3) array_like
            The mesh in this pose, such as an artist has sculpted it.
        joints : iterable of str or int
            The joints whose rotations drive the shape, each relative to its parent; several drive it together.
        name : str, optional
            By default the first joint's name and the degrees by which it is turned.
        part : {"swing", "twist", "both"}
            The part of their rotations that drives: the swing of the bone, its twist, or both.
        vertices : (M,) array_like of int or (V,) array_like of bool, optional
            The vertices that were sculpted. By default all that are elsewhere than the skin has them when the shape
            is first solved.

        Returns
        -------
        Corrective

        Raises
        ------
        ValueError
            If there is one of that name, a shape of arrays is wrong, a number is not finite, or the pose is too near
            the rest pose or another pose of the joints.
        KeyError
            If the skeleton has no such joint.
        """
        driver = find_driver(self.skeleton, list(joints) if not isinstance(joints, str) else [joints], part)
        target = Target.make(skinning_matrices, posed, vertices)
        if len(target.skinning_matrices) != len(self.skeleton):
            raise ValueError(
                f"skinning_matrices has shape {np.shape(skinning_matrices)}, expected "
                f"({len(self.skeleton)}, 4, 4) for {len(self.skeleton)} joints"
            )
        coordinates = find_coordinates(self.skeleton, driver, target.skinning_matrices)
        return self._put(Corrective(self._free_name(name, driver, coordinates), driver, coordinates, target))

    def add_shape(
        self,
        shape: Shape | tuple[ArrayLike, ...],
        coordinates: ArrayLike,
        *,
        joints: Iterable[str | int],
        name: str | None = None,
        part: Part = "swing",
    ) -> Corrective:
        """Add a shape that exists: `solve` leaves it as it is.

        Parameters
        ----------
        shape : Shape
        coordinates : (n, 3) array_like
            Rotation vectors of the joints in the pose that drives it, in the axes of the rest pose, each relative to
            its parent; as `Corrective` has them.
        joints, name, part
            As of `add`; joints in the order of the skeleton.
        """
        driver = find_driver(self.skeleton, list(joints) if not isinstance(joints, str) else [joints], part)
        found = np.asarray(coordinates, np.float64).reshape(-1, 3)
        vertices, deltas, *normals = (np.asarray(each) for each in shape if each is not None)
        given = Shape(vertices, deltas, *normals)
        return self._put(Corrective(self._free_name(name, driver, found), driver, found, None, given))

    def insert(self, *correctives: Corrective) -> None:
        """Add correctives of others, or some that were made by hand, behind all; several at once take less time.

        Raises
        ------
        ValueError
            If two have one name, or a pose is too near another pose of the joints. Then none is added.
        """
        added = {**self._correctives}
        for each in correctives:
            if each.name in added:
                raise ValueError(f"there is a corrective {each.name!r}: give another name, or remove it first")
            added[each.name] = each
        _checked_drivers(self.skeleton, [*added.values()])
        self._correctives = added
        self._changed()

    def _put(self, corrective: Corrective) -> Corrective:
        self.insert(corrective)
        return corrective

    def _free_name(self, name: str | None, driver: Driver, coordinates: Floats) -> str:
        if name is not None:
            if name in self._correctives:
                raise ValueError(f"there is a corrective {name!r}: give another name, or remove it first")
            return name
        stem = f"{driver.joints[0]} {np.degrees(np.linalg.norm(coordinates[0])):.0f}"
        numbers = (f"{stem} ({number})" for number in range(2, len(self) + 3))
        return next(each for each in (stem, *numbers) if each not in self._correctives)

    def exchange(self, corrective: Corrective) -> None:
        """Replace the corrective of a name.

        Raises
        ------
        KeyError
            If there is none.
        ValueError
            If its pose is too near another pose of the joints.
        """
        found = {**self._correctives, self[corrective.name].name: corrective}
        _checked_drivers(self.skeleton, [*found.values()])
        self._correctives = found
        self._changed()

    def remove(self, name: str) -> None:
        """Remove the corrective of a name.

        Raises
        ------
        KeyError
            If there is none.
        """
        del self._correctives[self[name].name]
        self._changed()

    def rename(self, name: str, new: str) -> None:
        """Give a corrective another name; its place stays.

        Raises
        ------
        KeyError
            If there is none of the name.
        ValueError
            If there is one of the new name.
        """
        if new != self[name].name and new in self._correctives:
            raise ValueError(f"there is a corrective {new!r}")
        self._correctives = {
            (new if each.name == name else each.name): replace(each, name=new) if each.name == name else each
            for each in self
        }
        self._changed()

    def copy(self) -> Self:
        """The same correctives, which change without these."""
        made = type(self)(self.skeleton)
        made._correctives = dict(self._correctives)
        return made

    # ------------------------------------------------------------------------------------------------------- in a pose

    @cached_property
    def _drivers(self) -> _core.Drivers | None:
        return _checked_drivers(self.skeleton, [*self])

    def weights(self, skinning_matrices: ArrayLike) -> Floats:
        """How much there is of each shape in a pose, or in several.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like

        Returns
        -------
        (P,) or (F, P) ndarray of float64
            1 of a shape in its own pose, and 0 of it in the other poses of its joints, and at rest.
        """
        matrices, single = as_frames(skinning_matrices)
        found = np.zeros((len(matrices), 0)) if self._drivers is None else self._drivers.weights(matrices)
        return found[0] if single else found

    def shapes(self, skin: Skin) -> Shapes | None:
        """The shapes of all for a skin, whose weights are those of `weights`; None if there are none."""
        if not self._correctives:
            return None
        found = self._shapes.get(skin)
        if found is None:
            nothing = Shape(np.empty(0, np.int32), np.empty((0, 3), skin.dtype))
            shapes = [nothing if each.shape is None else each.shape for each in self]
            if not skin.has_normals:
                shapes = [Shape(each.vertices, each.deltas) for each in shapes]
            found = self._shapes[skin] = Shapes(skin, shapes)
        return found

    def check(self, skin: Skin, options: Mapping[str, Any], /) -> None:
        """Warn if shapes were made for another method than a skin and options of `Skin.deform`.

        `Skin.deform` does this by itself, once for a skin and a method.
        """
        method = tuple(options.get(name) for name in MethodOptions.__annotations__)
        checked = self._checked.setdefault(skin, set())
        try:
            if method in checked:
                return
            used = made_for(skin, options)
        except (TypeError, ValueError):  # Skin.deform refuses these options, and names the one that is wrong
            return
        checked.add(method)
        for each in self:
            if each.made_for not in (None, used):
                warn(
                    f"corrective {each.name!r} was made for {each.made_for}, and is used with {used}: solve it again,"
                    " or deform as it was made for",
                    UserWarning,
                )
                break

    # --------------------------------------------------------------------------------------------------------- solving

    def solve(
        self,
        skin: Skin,
        *,
        triangles: ArrayLike | None = None,
        tolerance: float = TOLERANCE,
        after: After | None = None,
        **options: Unpack[BlendOptions],
    ) -> dict[str, Solution]:
        """Solve all shapes: the offsets of the rest pose by which the skin becomes the sculpted one.

        Where several shapes act in a pose, each takes the others into account, so that neighbors do not add twice.
        Where poses of different joints are the same, each gets its part.

        Parameters
        ----------
        skin : Skin
            Such as ``character.skin``, or one with centers or a twist.
        triangles : (T, 3) array_like of int, optional
            The triangles of the mesh, to change normals, too, of a skin that has them.
        tolerance : float
            Smaller deltas are dropped: a share of the size of the mesh.
        after : callable, optional
            A function of the deformed mesh, ``after(positions, skinning_matrices) -> positions``, such as covering
            muscles. It has to move each vertex by itself, and is undone by Newton's method.
        method, rotation, center, damping, rcond, amount, base
            Options of the deformation; see `Skin.deform`.

        Returns
        -------
        dict of str to Solution
            For each corrective that has a target.

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `Skin.inverse_deform`; if the mesh has another number of vertices than a target.

        Warns
        -----
        SingularVertexWarning
            If joints have crushed sculpted vertices, so that no offset at rest reaches their targets; these are left,
            and `Solution.unreached` lists them.
        """
        targets = {each.name: each.target for each in self if each.target is not None}
        if not targets:
            return {}
        matrices = np.stack([target.skinning_matrices for target in targets.values()])
        weights = self.weights(matrices)
        given = [each for each in self if each.target is None and each.shape is not None]
        rows = [number for number, each in enumerate(self) if each.target is not None]
        fixed = [(each.shape, weights[:, [*self].index(each)]) for each in given if each.shape is not None]
        solved = solve(
            skin,
            list(targets.values()),
            weights[:, rows],
            fixed,
            triangles=None if triangles is None else np.asarray(triangles),
            tolerance=tolerance,
            after=after,
            options=options,
        )
        found = dict(zip(targets, solved, strict=True))
        for name, solution in found.items():
            made = replace(self[name], shape=solution.shape, target=solution.target, made_for=made_for(skin, options))
            self._correctives[name] = made
        self._changed()
        return found

    def meet(
        self,
        skin: Skin,
        targets: Mapping[str, Target] | None = None,
        *,
        triangles: ArrayLike | None = None,
        tolerance: float = TOLERANCE,
        after: After | None = None,
        **options: Unpack[BlendOptions],
    ) -> dict[str, Solution]:
        """Change solved shapes by so much as they lack of their targets, by a method they may not be solved for.

        Unlike `solve`, this keeps how joints that bend together share a shape out, as in drafts of fingers, and all
        vertices without a target.

        Parameters
        ----------
        skin : Skin
        targets : mapping of str to Target, optional
            By names of correctives; by default their own.
        triangles, tolerance, after, method, rotation, center, damping, rcond, amount, base
            As of `solve`.

        Returns
        -------
        dict of str to Solution
            For each target; its shape is the part that was added.

        Raises
        ------
        KeyError, ValueError, TypeError, LinAlgError
            As `solve`; if there is no corrective of a name.

        Warns
        -----
        SingularVertexWarning
            As `solve`.
        """
        if targets is None:
            targets = {each.name: each.target for each in self if each.target is not None}
        if not targets:
            return {}
        weights = self.weights(np.stack([target.skinning_matrices for target in targets.values()]))
        own = [self.names.index(self[name].name) for name in targets]
        present = [(each.shape, row) for each, row in zip(self, weights.T, strict=True) if each.shape is not None]
        added = solve(
            skin,
            list(targets.values()),
            weights[:, own],
            present,
            triangles=None if triangles is None else np.asarray(triangles),
            tolerance=tolerance,
            after=after,
            options=options,
        )
        found = dict(zip(targets, added, strict=True))
        for name, solution in found.items():
            shape = self[name].shape
            total = solution.shape if shape is None else sum_of_shapes(shape, solution.shape)
            self._correctives[name] = replace(self[name], shape=total, made_for=made_for(skin, options))
        self._changed()
        return found

    def prune(self, tolerance: float, skin: Skin) -> None:
        """Drop deltas below a share of the size of a skin's mesh.

        Raises
        ------
        ValueError
            If the tolerance is negative.
        """
        if not tolerance >= 0:
            raise ValueError(f"tolerance must be at least 0, not {tolerance}")
        limit = tolerance * diagonal(skin.rest_positions)
        for each in [*self]:
            if each.shape is not None:
                kept = np.linalg.norm(each.shape.deltas, axis=1) > limit
                vertices, deltas, *normals = (array[kept] for array in each.shape if array is not None)
                shape = Shape(vertices, deltas, *normals)
                self._correctives[each.name] = replace(each, shape=shape)
        self._changed()


def _checked_drivers(skeleton: Skeleton, correctives: list[Corrective]) -> _core.Drivers | None:
    """The drivers of correctives; a fault names the one that is at fault."""
    if not correctives:
        return None
    try:
        return core_drivers(skeleton, [(each.driver, each.coordinates) for each in correctives])
    except ValueError as error:
        start, _, rest = str(error).partition(": ")
        number = start.removeprefix("coordinates of pose ")
        if not number.isdigit():
            raise
        raise ValueError(f"the pose of {correctives[int(number)].name!r}: {rest}") from None
