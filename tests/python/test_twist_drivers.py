# SPDX-License-Identifier: MIT
"""Drivers of twist joints in GLB files: docs/engines.md has the formula, evaluated here one number at a time."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import succeed
from gltf_builder import pack_glb
from gltf_reference import Scene, interpolate, opened

import sbs
from sbs import rotations
from sbs.samples import load as load_sample

RAT = Path(__file__).parents[1] / "data" / "Rat.glb"

Rotation = list[float]


def with_turns(character: sbs.Character) -> sbs.Character:
    """With a clip that turns each joint anywhere, the forearms and hands of the woman far."""
    random = np.random.default_rng(7)
    skeleton = character.skeleton
    vectors = 0.5 * random.standard_normal((4, len(skeleton), 3))
    vectors[0] = 0
    for name in ("LeftForeArm", "LeftHand", "RightHand"):
        if name in skeleton.names:
            vectors[3, skeleton.index(name)] = (0.2, 2.9, 0.1)
    matrices = character.skinning_matrices(rotations.matrices_from_rotation_vectors(vectors))
    clip = sbs.Animation.from_skinning_matrices("turns", np.arange(4.0), matrices, character.rig)
    return replace(character, animations=sbs.Animations([clip]))


def multiply(a: Rotation, b: Rotation) -> Rotation:
    (x, y, z, w), (p, q, r, s) = a, b
    return [
        w * p + x * s + y * r - z * q,
        w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s,
        w * s - x * p - y * q - z * r,
    ]


def conjugate(q: Rotation) -> Rotation:
    return [-q[0], -q[1], -q[2], q[3]]


def angle_about(axis: list[float], q: Rotation) -> float:
    angle = 2 * math.atan2(sum(n * v for n, v in zip(axis, q[:3], strict=True)), q[3])
    return angle - 2 * math.pi * round(angle / (2 * math.pi))


class Pose:
    """The nodes of a file with rotations (x, y, z, w) of a moment."""

    def __init__(self, scene: Scene, clip: str, time: float) -> None:
        self.nodes: list[dict[str, Any]] = [dict(node) for node in scene.json["nodes"]]
        animation = scene.animation(clip)
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            if channel["target"]["path"] == "rotation":
                times = [key for (key,) in scene.accessor(sampler["input"])]
                value = interpolate(times, scene.accessor(sampler["output"]), time, True)
                self.nodes[channel["target"]["node"]]["rotation"] = value
        self.parents = {child: number for number, node in enumerate(self.nodes) for child in node.get("children", [])}

    def rotation(self, node: int) -> Rotation:
        return list(self.nodes[node].get("rotation", [0, 0, 0, 1]))

    def between(self, node: int, above: int) -> Rotation:
        """The rotation of a node relative to one above it."""
        found: Rotation = [0, 0, 0, 1]
        while node != above:
            found = multiply(self.rotation(node), found)
            node = self.parents[node]
        return found

    def driven(self, node: int) -> Rotation:
        """The rotation of a twist joint by the formula."""
        driver = self.nodes[node]["extras"]["sbs_twist"]
        bone, axis = self.parents[node], driver["axis"]
        own = of_child = 0.0
        if driver["parent"] is not None:
            above = self.parents[bone]
            while self.nodes[above]["name"] != driver["parent"]:
                above = self.parents[above]
            own = angle_about(axis, multiply(conjugate(driver["parent_rest"]), self.between(bone, above)))
        if driver["child"] is not None:
            (below,) = (each for each in self._below(bone) if self.nodes[each].get("name") == driver["child"])
            of_child = angle_about(axis, multiply(self.between(below, bone), conjugate(driver["child_rest"])))
        half = (driver["share"] * of_child - (1 - driver["share"]) * own) / 2
        return [*(math.sin(half) * n for n in axis), math.cos(half)]

    def _below(self, node: int) -> list[int]:
        children = self.nodes[node].get("children", [])
        return [*children, *(each for child in children for each in self._below(child))]


def twist_joints(content: dict[str, Any]) -> list[int]:
    return [number for number, node in enumerate(content["nodes"]) if "sbs_twist" in node.get("extras", {})]


@pytest.mark.parametrize("source", [True, False], ids=["its own file", "a new file"])
@pytest.mark.parametrize("name", ["woman", "Rat"])
def test_the_formula_finds_the_keys(tmp_path: Path, name: str, source: bool) -> None:
    """Within 1e-5: nodes, keys and inverse bind matrices of files are float32."""
    character = with_turns(load_sample("woman") if name == "woman" else sbs.load(RAT))
    twist = sbs.limb_twist(character)
    path = tmp_path / "twist.glb"
    made = character.with_twist_joints(twist)
    (made if source else replace(made, source=None)).save(path)
    scene = Scene(path)
    joints = twist_joints(scene.json)
    assert len(joints) == twist.bone_count * twist.frames > 0
    most = 0.0
    for time in np.linspace(0, 3, 7):  # keys: the rate is 30 a second
        pose = Pose(scene, "turns", float(time))
        for joint in joints:
            keyed, found = pose.rotation(joint), pose.driven(joint)
            sign = np.sign(np.dot(keyed, found))
            np.testing.assert_allclose(found, sign * np.array(keyed), atol=1e-5)
            most = max(most, 2 * math.acos(min(abs(keyed[3]), 1.0)))
    assert most > (2.5 if name == "woman" else 0.5)


@pytest.mark.parametrize("command", ["engine", "improve"])
def test_commands_write_them(tmp_path: Path, command: str) -> None:
    path = tmp_path / "out.glb"
    hero = tmp_path / "hero.glb"
    load_sample("woman").save(hero)
    if command == "engine":
        succeed("convert", hero, "--engine", "three", "-o", path)
    else:
        succeed("improve", hero, "--without", "weights,correctives", "-o", path)
    assert twist_joints(opened(path)[0])


def test_they_are_kept(tmp_path: Path) -> None:
    """By a file that is loaded and saved, as it was or as a new one."""
    character = load_sample("woman")
    made = character.with_twist_joints(sbs.limb_twist(character))
    made.save(tmp_path / "once.glb")
    once = sbs.load(tmp_path / "once.glb")
    assert once.rig.twists == made.rig.twists
    once.save(tmp_path / "kept.glb")
    assert (tmp_path / "kept.glb").read_bytes() == (tmp_path / "once.glb").read_bytes()
    replace(once, source=None).save(tmp_path / "new.glb")
    again = sbs.load(tmp_path / "new.glb").rig
    named = [[(rig.names[twist.node], twist.extras()) for twist in rig.twists] for rig in (once.rig, again)]
    assert len(named[0]) == len(made.rig.twists)
    assert named[0] == named[1]


@pytest.mark.parametrize(
    "change",
    [
        {"parent": 3},
        {"child": ["LeftHand"]},
        {"axis": [0, 0, 0]},
        {"axis": [0, 1]},
        {"axis": [0, 1, "0"]},
        {"parent_rest": [0, 0, 0, 10**400]},
        {"child_rest": None},
        {"share": 1.5},
        {"share": True},
    ],
)
def test_damaged_ones_are_left_out(tmp_path: Path, change: dict[str, Any]) -> None:
    character = load_sample("woman")
    character.with_twist_joints(sbs.limb_twist(character)).save(tmp_path / "good.glb")
    content, data = opened(tmp_path / "good.glb")
    first, *others = twist_joints(content)
    content["nodes"][first]["extras"]["sbs_twist"].update(change)
    (tmp_path / "bad.glb").write_bytes(pack_glb(json.dumps(content).encode(), data))
    assert len(sbs.load(tmp_path / "bad.glb").rig.twists) == len(others)


def arm(names: tuple[str, str, str], mirror: float = 1.0) -> sbs.Character:
    """Three joints in a row."""
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[1:, 0, 3] = 1.0, 3.0
    bind[2, 2, 2] = mirror
    mesh = sbs.Mesh(np.eye(3), np.array([[0, 1, 2]], np.int32), np.full((3, 1), 1, np.int32), np.ones((3, 1)))
    character = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0, 1], bind))
    return replace(character, rig=replace(character.rig, names=names))


@pytest.mark.parametrize(
    ("names", "mirror", "head", "count"),
    [
        (("arm", "forearm", "hand"), 1.0, 0.0, 4),
        (("", "forearm", "hand"), 1.0, 0.0, 0),
        (("arm", "forearm", ""), 1.0, 0.0, 0),
        (("arm", "forearm", "hand"), -1.0, 0.0, 0),
        (("arm", "forearm", "hand"), 1.0, 0.1, 0),
    ],
    ids=["plain", "parent without a name", "child without a name", "mirrored", "beside its joint"],
)
def test_where_nodes_do_not_tell_it_there_are_none(
    names: tuple[str, str, str], mirror: float, head: float, count: int
) -> None:
    twist = sbs.Twist([1], [[1.0, head, 0]], [[3.0, head, 0]], parents=[0], joint_count=3, children=[2])
    assert len(arm(names, mirror).with_twist_joints(twist).rig.twists) == count
