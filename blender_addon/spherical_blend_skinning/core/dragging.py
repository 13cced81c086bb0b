# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of a bound mesh dragged in a pose: their weights follow."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .binding import Binding
from .matrices import Floats
from .method import Amount, Method


class Rows(NamedTuple):
    """The weights of some vertices."""

    vertices: NDArray[np.int32]  #: (M,)
    bones: NDArray[np.intp]  #: (M, K): of the pose
    weights: NDArray[np.float32]  #: (M, K): 0 where there are fewer


class Patch(NamedTuple):
    """Where weights of its heaviest bones can take a vertex, in the space of the mesh object."""

    points: NDArray[np.float32]  #: (N, 3)
    edges: NDArray[np.int32]  #: (E, 2): the arc, or the border of the patch
    triangles: NDArray[np.int32]  #: (T, 3)


@dataclass(frozen=True)
class Reach:
    """The vertices around the dragged one that move with it."""

    radius: float  #: Around the vertex at rest, in the space of the mesh object
    falloff: str = "smooth"  #: Of `sbs.weights.Brush.drag`.
    #: The bones of the pose that vertices may get; None: those of the dragged vertex
    bones: tuple[int, ...] | None = None
    locked: tuple[int, ...] = ()  #: Bones that keep their weights
    mirror: str = ""  #: An axis of the mesh object, or nothing


class Dragging:
    """A brush on a bound mesh in one pose. Drags begin from the weights that the mesh had.

    Matrices are those of `Binding.skinning_matrices`; method, amount and twists as of `Binding.deform`. A ValueError
    tells that it is not one that drags follow.
    """

    def __init__(
        self,
        sbs: ModuleType,
        weights: ModuleType,
        binding: Binding,
        triangles: NDArray[np.int32],
        matrices: Floats,
        method: Method,
        amount: Amount | None,
        twists: Floats | None = None,
    ) -> None:
        if binding.bends:
            raise ValueError("Vertices of bones that bend cannot be dragged")
        if binding.blends:
            raise ValueError("Bones blending has no weights to drag by; choose another method")
        if method.rotation != "qlerp":
            raise ValueError("Vertices cannot be dragged with the spherical average; choose QLERP")
        if method.name not in ("linear", "spherical", "dual_quaternion"):
            raise ValueError(f"Vertices cannot be dragged by the method {method.name.replace('_', ' ')}")
        if amount is not None and amount.method != "linear":
            raise ValueError("Vertices can only be dragged where Blend With is Linear")
        self._weights = weights
        self._binding = binding
        self._matrices = matrices
        positions = binding.positions
        joints, values = binding.joints_of_bones()
        by_vertex = {"centers": binding.skin.centers}
        if binding.twist is not None:
            by_vertex["twist_positions"] = binding.skin.rest_positions
        self._skin = self._make_skin(sbs, positions, joints, values, **by_vertex)
        self._sbs = sbs
        self._options: dict[str, Any] = {"method": method.name}
        if method.name == "spherical":
            self._options["center"] = method.center
        if amount is not None:
            self._options.update(amount=amount.weights)
        if binding.limbs and twists is not None:
            self._options["twists"] = twists
        self._brush = weights.Brush(positions, triangles, joints, values, joint_count=binding.joint_count)
        self._first = self._brush.influences()
        self._stroke: Any = None

    def _make_skin(self, sbs: ModuleType, positions: Any, joints: Any, values: Any, **by_vertex: Any) -> Any:
        """A skin that deforms as that of the binding."""
        return sbs.Skin.quietly(
            positions, joints, values, joint_count=self._binding.joint_count, twist=self._binding.twist, **by_vertex
        )

    def drag(self, vertex: int, way: NDArray[np.floating[Any]], reach: Reach) -> Rows:
        """Take a vertex so far (3,), in the space of the mesh object, from where it was, and the last drag back.

        Returned are the weights of all vertices that were dragged this time or the time before.
        """
        before = self._undo()
        point, scale = (self._place(vertex) + way).astype(np.float64), 1.0
        space = self._binding.space
        if not space.is_mesh:
            point = space.from_mesh(point[None])[0]
            scale = abs(float(np.linalg.det(space.matrix[:3, :3]))) ** (1.0 / 3.0)
            if reach.mirror:
                raise ValueError("Apply the scale of the mesh before you drag with a mirror")
        mirrored = {"mirror": reach.mirror, "mirror_joints": self._opposite(reach.mirror)} if reach.mirror else {}
        self._stroke = self._brush.drag(
            vertex,
            point,
            self._skin,
            self._matrices,
            radius=reach.radius * scale,
            falloff=reach.falloff,
            joints=None if reach.bones is None else self._joints(reach.bones),
            locked=self._joints(reach.locked),
            **self._options,
            **mirrored,
        )
        return self._rows(np.union1d(before, self._stroke.vertices), reach.locked)

    def cancel(self) -> Rows:
        """Take the last drag back."""
        return self._rows(self._undo())

    def patch(self, vertex: int, steps: int = 16) -> Patch | None:
        """Where the weights of the two or three heaviest bones of a vertex can take it; None if it has one alone."""
        joints, values = (row[vertex] for row in self._first)
        joints = joints[values > 0.0][:3]
        if len(joints) < 2:
            return None
        place = self._skin.rest_positions[vertex]
        method = self._options.get("method", "spherical")  # where it cuts the patch
        simplex = self._weights.reachable(place, self._matrices[joints], method=method, steps=steps)
        # The center of a joint set jumps where a weight is 0, and a drawn patch should not.
        smooth = {"center": "weighted"} if self._options.get("center") == "joint_set" else {}
        points = self._moved(vertex, np.tile(joints, (len(simplex.points), 1)), simplex.weights, **smooth)
        return Patch(points, simplex.edges, simplex.triangles)

    def moved(self, vertex: int) -> NDArray[np.float32]:
        """How far a vertex is from where it was, (3,) in the space of the mesh object."""
        joints, values = (table[vertex] for table in self._brush.influences())
        now: NDArray[np.float32] = self._moved(vertex, joints[None], values[None])[0]
        return now - self._place(vertex)

    def _place(self, vertex: int) -> NDArray[np.float32]:
        """Where a vertex was, (3,) in the space of the mesh object, before muscles cover it."""
        joints, values = (table[vertex] for table in self._first)
        place: NDArray[np.float32] = self._moved(vertex, joints[None], values[None])[0]
        return place

    def _moved(
        self, vertex: int, joints: NDArray[np.int32], values: NDArray[np.floating[Any]], **changed: str
    ) -> NDArray[np.float32]:
        """Where a vertex is with each row of influences (N, K), (N, 3) in the space of the mesh object."""
        count = len(joints)

        def repeated(points: NDArray[np.floating[Any]] | None) -> NDArray[np.floating[Any]] | None:
            return None if points is None else np.tile(points[vertex], (count, 1))

        skin = self._make_skin(
            self._sbs,
            repeated(self._skin.rest_positions),
            joints,
            values,
            centers=repeated(self._skin.centers),
            twist_positions=repeated(self._skin.twist_positions),
        )
        options = self._options | changed
        if "amount" in options:
            options["amount"] = np.full(count, options["amount"][vertex])
        found: NDArray[np.float32] = self._binding.space.to_mesh(skin.deform(self._matrices, **options))
        return found.astype(np.float32)

    def _undo(self) -> NDArray[np.int32]:
        """Take the last drag back; the vertices that it changed."""
        if self._stroke is None:
            return np.empty(0, np.int32)
        self._brush.undo(self._stroke)
        vertices: NDArray[np.int32] = self._stroke.vertices
        self._stroke = None
        return vertices

    def _rows(self, vertices: NDArray[np.int32], locked: tuple[int, ...] = ()) -> Rows:
        """The weights of some vertices, as Blender keeps them: none above 1.

        A brush keeps the sums of weights, which may be above 1. Only their proportions matter, but for locked ones.
        """
        joints, values = (table[vertices] for table in self._brush.influences())
        bones = self._binding.bones[joints]
        keeps = (np.isin(bones, locked) & (values > 0.0)).any(axis=1)
        largest = np.maximum(values.max(axis=1, initial=0.0), 1.0)
        largest[keeps] = 1.0
        return Rows(vertices, bones, (values / largest[:, None]).astype(np.float32))

    def _joints(self, bones: tuple[int, ...]) -> NDArray[np.intp]:
        """The joints of those bones of the pose that move vertices."""
        return np.flatnonzero(np.isin(self._binding.bones, bones))

    def _opposite(self, axis: str) -> NDArray[np.int32]:
        """The joint on the other side of each."""
        names = [self._binding.rig.names[bone] for bone in self._binding.bones]
        found: NDArray[np.int32] = self._weights.mirror_joints(names, self._binding.heads_in_mesh(), axis=axis).joints
        return found
