# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the difference from linear blending over the 3D view: a heat map, or a ghost of linear blending."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..engine import reading
from ..engine.identity import key_of
from ..engine.live import registry, states
from ..engine.stack import stack
from ..interface import drawing
from ..settings.typed import mesh_of
from . import difference
from .settings import comparison_of

_GHOST_COLOR = (1.0, 0.55, 0.1, 0.5)
# The colors of Weight Paint, from no difference to the largest.
_RAMP = np.array([(0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, 0.0, 0.0)])
# Not opaque, so that the shading of the mesh still shows its shape.
_OPACITY = 0.75
# How much nearer a heat map is drawn than its mesh, as a share of the depth of the view.
_LIFT = 2e-5


class _Drawn(NamedTuple):
    """A batch for an object, and the pose and settings that it was made for."""

    pose: object
    settings: tuple[str, float]
    batch: Any
    largest: float


_drawn: dict[int | str, _Drawn] = {}


def heat_colors(distances: NDArray[np.floating[Any]], largest: float) -> NDArray[np.float32]:
    """Colors (V, 4) of distances (V,): blue at 0, red at the largest and above."""
    share = np.clip(distances / largest, 0.0, 1.0) if largest > 0.0 else np.zeros(len(distances))
    places = np.linspace(0.0, 1.0, len(_RAMP))
    channels = [np.interp(share, places, channel) for channel in _RAMP.T]
    return np.stack([*channels, np.full(len(distances), _OPACITY)], axis=1).astype(np.float32)


def largest_distance(item: bpy.types.Object) -> float | None:
    """The largest distance from linear blending that is drawn of an object; None if nothing is."""
    drawn = _drawn.get(key_of(item))
    return drawn and drawn.largest


def _draw() -> None:
    context = bpy.context
    shown = comparison_of(context)
    if shown.shown == "NONE" or not drawing.shows_overlays(context):
        _drawn.clear()
        return
    import gpu

    is_heat = shown.shown == "HEAT_MAP"
    shader = drawing.builtin_shader("SMOOTH_COLOR" if is_heat else "UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    # Where linear blending makes a limb thinner, the ghost is inside of it.
    gpu.state.depth_test_set("LESS_EQUAL" if is_heat else "NONE")
    lift = None
    if is_heat:
        lift = Matrix.Identity(4)
        view = context.region_data
        lift[2][3] = -_LIFT if view is None or view.is_perspective else -10.0 * _LIFT
    for item in registry.bound_objects():
        if item.mode == "EDIT" or not item.visible_get():
            continue
        drawn = _bring_up_to_date(item, shader, shown.shown, shown.largest)
        if drawn is None:
            continue
        with drawing.transformed(item.matrix_world, lift):
            shader.bind()
            if not is_heat:
                shader.uniform_float("color", _GHOST_COLOR)
            drawn.batch.draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


def _bring_up_to_date(item: bpy.types.Object, shader: Any, shown: str, largest: float) -> _Drawn | None:
    """The batch of an object; None if it cannot be drawn."""
    state, modifier = states.state_of(item), stack.find(item)
    if state is None or modifier is None:
        return None
    if any(other.type not in stack.DEFORMING for other in stack.before(item, modifier)):
        # The faces of the mesh are drawn, so no modifier before ours may change them.
        return None
    key = key_of(item)
    drawn = _drawn.get(key)
    if drawn is not None and drawn.pose == state.pose and drawn.settings == (shown, largest):
        return drawn
    found = difference.find(item)
    if found is None or len(found.shown) != len(mesh_of(item).vertices):
        return None
    from gpu_extras.batch import batch_for_shader

    distances = found.distances
    most = float(distances.max(initial=0.0))
    if shown == "HEAT_MAP":
        content: dict[str, Any] = {"pos": found.shown, "color": heat_colors(distances, largest or most)}
        batch = batch_for_shader(shader, "TRIS", content, indices=reading.triangles(mesh_of(item)))
    else:
        edges = np.empty(2 * len(mesh_of(item).edges), np.int32)
        mesh_of(item).edges.foreach_get("vertices", edges)
        content = {"pos": found.linear}
        batch = batch_for_shader(shader, "LINES", content, indices=edges.reshape(-1, 2))
    _drawn[key] = _Drawn(state.pose, (shown, largest), batch, most)
    return _drawn[key]


_overlay = drawing.Overlay(_draw)
register = _overlay.register


def unregister() -> None:
    _overlay.unregister()
    _drawn.clear()
