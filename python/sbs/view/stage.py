# SPDX-License-Identifier: MIT
"""A character on the page: its meshes by one method, with its rotation centers or muscles."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..quality.methods import MuscleMethod, NamedMethod, deformed
from .shape import (
    AREA_COLORS,
    PLAIN,
    WEIGHT_COLORS,
    Color,
    Floats,
    Patch,
    Surface,
    bellies,
    has_centers,
    rotation_centers,
)

Coloring = Literal["none", "weights", "areas"]

_DOT: Color = (230, 60, 20)
_FLESH: Color = (140, 20, 18)


class Figure:
    """A character that is deformed by one method.

    It is the node `name` of the scene of a `viser.ViserServer`, and stands at `offset` (3,) beside the others; `scale`
    has the units of the page by those of the character.
    """

    def __init__(
        self,
        server: Any,
        name: str,
        character: Character,
        surface: Surface,
        method: NamedMethod,
        offset: NDArray[np.float64],
        scale: float,
    ) -> None:
        self.method = method
        self.positions: Floats = np.zeros((0, 3), np.float32)
        self._skin = method.skin(character)
        self._plain_skin = character.optimized_skin() if method.options.get("center") == "optimized" else character.skin
        self._surface, self._scale, self._scene, self._name = surface, scale, server.scene, name
        self.root = server.scene.add_frame(name, show_axes=False, position=offset)
        self._coloring: Coloring | None = None
        self._joint = -1
        self._meshes: list[Any] = []
        self._patches: list[Patch] = []
        self._dots: Any = None
        self._bellies: Any = None

    def pose(
        self,
        matrices: NDArray[np.float64],
        rest: Floats | None,
        coloring: Coloring,
        joint: int,
        *,
        centers: bool,
        muscles: bool,
    ) -> None:
        """Show a pose, of rest positions with blend shapes if there are any; and centers or muscles, if it has them."""
        self.positions = deformed(self._skin, matrices, rest, self.method.options)
        points = (self.positions * self._scale).astype(np.float32)
        if (coloring, joint if coloring == "weights" else -1) != (self._coloring, self._joint):
            self._recolor(coloring, joint, rest)
        elif coloring == "areas":
            self._patches = self._surface.patches(self._surface.areas(self.positions, rest))
        shows_centers = centers and has_centers(self.method)
        shows_muscles = muscles and isinstance(self.method, MuscleMethod)
        opacity = 0.45 if shows_centers or shows_muscles else None  # both are inside
        for mesh, patch in zip(self._meshes, self._patches, strict=True):
            self._put(mesh, patch, points)
            if mesh.opacity != opacity:
                mesh.opacity = opacity
        self._show_muscles(matrices if shows_muscles else None)
        self._show_centers(matrices if shows_centers else None)

    def _show_centers(self, matrices: NDArray[np.float64] | None) -> None:
        """Show the rotation centers in a pose, or none without one."""
        if matrices is not None:
            found = rotation_centers(self._plain_skin, self.method, matrices, self.positions) * self._scale
            if self._dots is None:
                name = f"{self._name}/centers"
                self._dots = self._scene.add_point_cloud(name, found, _DOT, point_size=0.008, point_shape="circle")
            self._dots.points = found.astype(self._dots.points.dtype)
            self._dots.colors = np.broadcast_to(np.array(_DOT, np.uint8), found.shape).copy()
        if self._dots is not None:
            self._dots.visible = matrices is not None

    def _show_muscles(self, matrices: NDArray[np.float64] | None) -> None:
        """Show the bellies of the muscles in a pose, or none without one."""
        if matrices is not None and isinstance(self.method, MuscleMethod):
            points, triangles = bellies(self.method.cover, matrices)
            vertices = (points * self._scale).astype(np.float32)
            if self._bellies is None:
                self._bellies = self._add_mesh("muscles", vertices, triangles, color=_FLESH)
            self._bellies.vertices = vertices
        if self._bellies is not None:
            self._bellies.visible = matrices is not None

    def _add_mesh(self, name: str, vertices: NDArray[np.float32], triangles: NDArray[np.uint32], **options: Any) -> Any:
        shown = {"side": "double", "cast_shadow": False, "receive_shadow": False, **options}
        return self._scene.add_mesh_simple(f"{self._name}/{name}", vertices, triangles, **shown)

    def _put(self, mesh: Any, patch: Patch, points: NDArray[np.float32]) -> None:
        if not len(patch.triangles):
            mesh.visible = False
            return
        if mesh.faces is not patch.triangles and not np.array_equal(mesh.faces, patch.triangles):
            mesh.faces = patch.triangles
        mesh.vertices = points[patch.vertices]
        mesh.visible = True

    def _recolor(self, coloring: Coloring, joint: int, rest: Floats | None) -> None:
        """Begin with other meshes, one for each color."""
        for mesh in self._meshes:
            mesh.remove()
        self._coloring, self._joint = coloring, joint if coloring == "weights" else -1
        if coloring == "none":
            self._patches, colors = [self._surface.whole()], [PLAIN]
        elif coloring == "weights":
            self._patches, colors = self._surface.patches(self._surface.weights(joint)), WEIGHT_COLORS
        else:
            self._patches, colors = self._surface.patches(self._surface.areas(self.positions, rest)), AREA_COLORS
        start = np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.uint32)
        # Parts of a smooth surface would show where they end.
        flat = coloring != "none"
        self._meshes = [
            self._add_mesh(f"mesh{number}", *start, color=each, flat_shading=flat, visible=False)
            for number, each in enumerate(colors)
        ]
