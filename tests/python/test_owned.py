# SPDX-License-Identifier: MIT
"""Objects own their arrays: whoever writes to what he gave them changes nothing."""

from __future__ import annotations

import array
import contextlib
import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from meshes import skin_arguments, skinning_matrices

import sbs
from sbs import _core, weights
from sbs.rigging.animation import Track
from sbs.rigging.rig import Rig
from sbs.rigging.shapes import BlendShape, ShapeMotion

VERTICES, JOINTS = 40, 6
MATRICES = skinning_matrices(JOINTS)


def arguments() -> dict[str, Any]:
    made = skin_arguments(VERTICES, JOINTS, 3, normals=True)
    return made | {"centers": made["rest_positions"] + 0.5}


def arm() -> sbs.Twist:
    return sbs.Twist([1], [[0.0, 0, 0]], [[1.0, 0, 0]], parents=[0], joint_count=JOINTS)


def scribble(given: dict[str, Any]) -> None:
    """Write to all arrays."""
    for value in given.values():
        if isinstance(value, np.ndarray):
            value[...] = value[::-1].copy() if value.dtype.kind in "iu" else 2 * value + 1


def everything(skin: sbs.Skin) -> list[np.ndarray]:
    """What a skin computes and shows."""
    upstream = np.ones((VERTICES, 3))
    gradients = skin.deform_vjp(MATRICES, upstream, upstream, wanted=("rest_positions", "joint_weights"))
    other = skin.deform(MATRICES, center="optimized", rest_positions=2.0 * np.array(skin.rest_positions))
    shown = [value for value in skin._arguments().values() if isinstance(value, np.ndarray)]
    assert gradients.rest_positions is not None and gradients.joint_weights is not None
    return [*skin.deform(MATRICES, normals=True), gradients.rest_positions, gradients.joint_weights, other, *shown]


def check(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("twist", [None, arm()])
def test_a_skin(twist: sbs.Twist | None) -> None:
    """Its deformations, gradients and copies stay."""
    given = arguments()
    skin = sbs.Skin(**given, twist=twist)
    before = everything(skin)
    scribble(given)
    check(everything(skin), before)
    for copied in (pickle.loads(pickle.dumps(skin)), copy.deepcopy(skin), skin.with_normals(skin.rest_normals)):
        check(everything(copied), before)


@pytest.mark.parametrize("twist", [None, arm()])
def test_a_skin_with_other_weights(twist: sbs.Twist | None) -> None:
    given = arguments()
    skin = sbs.Skin(**given, twist=twist)
    rows: dict[str, Any] = {"joint_indices": np.array([[1, 2]] * 5), "joint_weights": np.array([[0.25, 0.75]] * 5)}
    updated = [skin.update_weights(**rows, vertices=np.arange(5))]
    whole: dict[str, Any] = {name: given[name][::-1].copy() for name in rows}
    updated.append(skin.update_weights(**whole))
    before = [everything(each) for each in updated]
    for changed in (given, rows, whole):
        scribble(changed)
    for each, expected in zip(updated, before, strict=True):
        check(everything(each), expected)


@pytest.mark.parametrize(
    "disguised",
    [
        lambda memory: memory.view(),
        lambda memory: memory.reshape(-1, 3)[:],
        lambda memory: np.lib.stride_tricks.as_strided(memory, writeable=False),
        lambda memory: np.broadcast_to(memory, memory.shape),
        memoryview,
        lambda memory: type("Array", (), {"__array__": lambda self, *args, **kwargs: memory})(),
        lambda memory: memory.view(np.recarray),
    ],
)
def test_all_that_shows_memory_is_copied(disguised: Callable[[np.ndarray], Any]) -> None:
    """Also a read-only view of writable memory."""
    given = arguments()
    memory = given["rest_positions"]
    shown = disguised(memory)
    if isinstance(shown, np.ndarray):
        shown.flags.writeable = False
    skin = sbs.Skin(**given | {"rest_positions": shown})
    before = memory.copy()
    memory *= 2
    np.testing.assert_array_equal(skin.rest_positions, before)


def test_a_buffer_of_another_library() -> None:
    numbers = array.array("d", range(9))
    owned = _core.owned(numbers, "numbers")
    numbers[0] = 5.0
    assert owned.tolist() == list(range(9))


def test_what_nobody_can_write_to_is_shared() -> None:
    """A skin has the arrays of the mesh, and those of another skin."""
    mesh = sbs.samples.load("hand").mesh
    skin = sbs.samples.load("hand").with_mesh(mesh).skin
    assert mesh.normals is not None and skin.rest_normals is not None
    assert np.shares_memory(skin.rest_positions, mesh.positions)
    assert np.shares_memory(skin.rest_normals, mesh.normals)
    assert np.shares_memory(skin.joint_indices, mesh.joint_indices)
    assert np.shares_memory(skin.joint_weights, mesh.joint_weights)
    assert np.shares_memory(skin.with_normals(None).rest_positions, mesh.positions)
    assert _core.owned(np.frombuffer(b"immutable", np.uint8), "bytes").base == b"immutable"


def test_what_is_shown_cannot_be_written_to() -> None:
    hand = sbs.samples.load("hand")
    with pytest.raises(ValueError, match="read-only"):
        hand.mesh.positions[0] = 5
    for shown in (hand.mesh.positions, hand.skin.rest_positions, hand.rig.inverse_bind_matrices):
        assert not shown.flags.writeable
        while isinstance(shown.base, np.ndarray):
            shown = shown.base
            assert not shown.flags.writeable


def arrays_of_the_hand() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Classes, and arrays of one's own that each is made from, as those of the hand are."""
    hand = sbs.samples.load("hand")
    skeleton, animation = hand.skeleton, hand.animations[0]
    points = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    by_kind: dict[str, tuple[Callable[..., Any], Any]] = {
        "Mesh": (sbs.Mesh, vars(hand.mesh)),
        "Rig": (Rig, {name: vars(hand.rig)[name] for name in Rig.__dataclass_fields__}),
        "Skeleton": (sbs.Skeleton, {"parents": skeleton.parents, "bind_matrices": skeleton.bind_matrices}),
        "Track": (Track, vars(animation.tracks[0])),
        "Motion": (
            sbs.Motion,
            {
                "name": "still",
                "names": ("a", "b"),
                "parents": np.array([-1, 0], np.int32),
                "offsets": points[:2],
                "times": np.arange(3.0),
                "rotations": np.tile(np.eye(3), (3, 2, 1, 1)),
                "translations": np.ones((3, 2, 3)),
            },
        ),
        "BlendShape": (BlendShape, {"name": "fist", "vertices": np.arange(5, dtype=np.int32), "offsets": points}),
        "ShapeMotion": (ShapeMotion, {"positions": points, "shapes": ()}),
        "BonesBlending": (
            sbs.bones_blending,
            {"skeleton": skeleton, "rest_positions": hand.mesh.positions},
        ),
        "Twist": (sbs.Twist, arm()._arguments),
        "Capsules": (
            weights.Capsules,
            {"heads": points, "tails": points + 1, "inner_radii": np.ones((5, 2)), "outer_radii": 2 * np.ones((5, 2))},
        ),
        "Brush": (
            weights.Brush,
            {
                "positions": points,
                "triangles": np.array([[0, 1, 2], [2, 3, 4]], np.int32),
                "joint_indices": np.zeros((5, 1), np.int32),
                "joint_weights": np.ones((5, 1)),
                "joint_count": 2,
            },
        ),
    }
    return {
        kind: (make, {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()})
        for kind, (make, given) in by_kind.items()
    }


def shown_by(thing: Any) -> list[np.ndarray]:
    """All arrays that an object shows, and what a brush paints."""
    names = [name for name in dir(thing) if not name.startswith("__") and name != "_core"]
    values = [getattr(thing, name) for name in names]
    if isinstance(thing, weights.Brush):
        stroke = thing.dab([0.0, 0.0, 0.0], 1, radius=1.0)
        thing.undo(stroke)
        values += [*thing.influences(), stroke.vertices, *stroke.new]
    return [np.array(value) for value in values if isinstance(value, np.ndarray)]


def test_other_objects() -> None:
    for make, given in arrays_of_the_hand().values():
        thing = make(**given)
        before = shown_by(thing)
        assert before
        scribble(given)
        check(shown_by(thing), before)


def test_names_of_arrays_that_are_none() -> None:
    with pytest.raises(ValueError, match="offsets: "):
        BlendShape("fist", np.arange(2, dtype=np.int32), [[1.0, 2.0, 3.0], [4.0]])  # type: ignore[arg-type]


def test_indices_that_change_during_a_call_are_those_that_were_checked() -> None:
    """Another thread writes to the array, which ended the process: calls run without the global interpreter lock."""
    mesh = sbs.samples.load("woman").mesh
    triangles, stop = mesh.triangles.copy(), threading.Event()

    def change() -> None:
        while not stop.is_set():
            triangles[-1] = 2**30
            triangles[-1] = mesh.triangles[-1]

    thread = threading.Thread(target=change)
    thread.start()
    wanted = _core.islands(mesh.triangles, len(mesh.positions))
    try:
        for _ in range(300):
            with contextlib.suppress(ValueError):  # where it is out of range as the call begins
                np.testing.assert_array_equal(_core.islands(triangles, len(mesh.positions)), wanted)
    finally:
        stop.set()
        thread.join()
