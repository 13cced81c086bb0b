# SPDX-License-Identifier: MIT
"""Motions from BVH files, and how they come onto characters."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from commands import succeed

import sbs
from sbs.cli import main
from sbs.rigging.content import FileError, FileWarning
from sbs.rigging.joint_names import canonical, matched

WOMAN = str(resources.files("sbs.characters") / "data" / "woman.glb")

ARM = """HIERARCHY
ROOT Hips
{
  OFFSET 0 10 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Left Arm
  {
    OFFSET 1 2 0
    CHANNELS 3 Xrotation Zrotation Yrotation
    JOINT Hand
    {
      OFFSET 3 0 0
      CHANNELS 2 Zrotation Xposition
      End Site
      {
        OFFSET 1 0 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.05
0 10 0 0 0 0   0 0 0   0 3
1 11 2 30 40 50   60 70 80   20 3.5
"""


def written(folder: Path, text: str, name: str = "a.bvh") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def about(axis: str, degrees: float) -> np.ndarray:
    """A rotation about one axis, by hand."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array(
        {
            "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def test_a_file_by_hand(tmp_path: Path) -> None:
    motion = sbs.load_motion(written(tmp_path, ARM))
    assert motion.names == ("Hips", "Left Arm", "Hand")
    assert motion.parents.tolist() == [-1, 0, 1]
    assert motion.duration == 0.05
    np.testing.assert_array_equal(motion.rest_positions(), [[0, 10, 0], [1, 12, 0], [4, 12, 0]])
    rotations, positions = motion.turned()
    np.testing.assert_array_equal(rotations[0], [np.eye(3)] * 3)
    np.testing.assert_array_equal(positions[0], motion.rest_positions())
    hips = about("z", 30) @ about("y", 40) @ about("x", 50)
    arm = hips @ about("x", 60) @ about("z", 70) @ about("y", 80)
    np.testing.assert_allclose(rotations[1], [hips, arm, arm @ about("z", 20)], atol=1e-14)
    at_arm = np.array([1, 11, 2]) + hips @ [1, 2, 0]
    np.testing.assert_allclose(positions[1], [[1, 11, 2], at_arm, at_arm + arm @ [3.5, 0, 0]], atol=1e-14)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_and_a_joint_called_motion(tmp_path: Path, ending: str) -> None:
    text = ARM.replace("Left Arm", "MOTION").replace("\n", ending)
    assert sbs.load_motion(written(tmp_path, text)).names == ("Hips", "MOTION", "Hand")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("HIERARCHY", "HIER", "of no format"),
        ("MOTION", "", "no line MOTION"),
        ("0 10 0 0 0 0   0 0 0   0 3\n1 11 2 30 40 50   60 70 80   20 3.5\n", "0 10 0 0 0 0\n", "no whole row of 11"),
        ("0 10 0 0 0 0   0 0 0   0 3\n", "0 10 0 0 0 0   0 0 0   03\n", "line 24: 10 numbers, 11 are needed"),
        ("Frame Time: 0.05", "Frame Time: nan", "2 frames of nan s"),
        ("Frame Time: 0.05", "Frame Time: -1", "2 frames of -1 s"),
        ("Frame Time", "Time", "'Frames:' and 'Frame Time:' are needed"),
        ("1 11 2", "1 x 2", "line 25: 'x' is no number"),
        ("1 11 2", "1 11.0-2", "line 25: '11.0-2' is no number"),
        ("1 11 2", "1 nan 2", "number 1 of frame 1 is nan"),
        ("1 11 2", "1 1e999 2", "number 1 of frame 1 is inf"),
        ("OFFSET 1 2 0", "OFFSET 1 2", "line 9: 'CHANNELS', where a number of OFFSET is needed"),
        ("OFFSET 1 2 0", "OFFSET 1 2 inf", "line 8: 'inf', where a number"),
        ("CHANNELS 2 Zrotation", "CHANNELS 2 Wrotation", "'wrotation' is no channel"),
        ("CHANNELS 2 Z", "CHANNELS 1e9 Z", "1e\\+09 channels of joint 'Hand'"),
        ("CHANNELS 2 Z", "CHANNELS 1.5 Z", "1.5 channels"),
        ("JOINT Hand", "ROOT Hand", "ROOT out of place"),
        ("ROOT Hips", "JOINT Hips", "JOINT out of place"),
        ("JOINT Hand", "BONE Hand", "'bone' is not known here"),
        ("}\nMOTION", "\nMOTION", "a } is missing"),
        ("}\nMOTION", "}}\nMOTION", "line 20: '}}' is not known here"),
        ("}\nMOTION", "}\n}\nMOTION", "line 21: '}', where ROOT is needed"),
    ],
)
def test_damaged_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, ARM.replace(old, new, 1), "a.txt")
    with pytest.raises(FileError, match=message) as told:
        sbs.load_motion(path)
    assert str(path) in str(told.value)


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("Frames: 2", "Frames: 1", 2),
        ("Frames: 2", "Frames: 3", 2),
        ("Frames: 2", "Frames: 0", 2),
        ("Frames: 2", "Frames: 999999999", 2),
        ("70 80   20 3.5\n", "70 80", 1),
        ("70 80   20 3.5\n", "70 -", 1),
    ],
)
def test_whole_rows_are_read_where_frames_is_wrong_or_the_last_line_cut(
    tmp_path: Path, old: str, new: str, rows: int
) -> None:
    with pytest.warns(FileWarning, match=f"a.bvh: .*{rows} whole rows? of 11") as told:
        motion = sbs.load_motion(written(tmp_path, ARM.replace(old, new, 1)))
    assert len(told) == 1
    whole = sbs.load_motion(written(tmp_path, ARM))
    np.testing.assert_array_equal(motion.rotations, whole.rotations[:rows])
    np.testing.assert_array_equal(motion.times, whole.times[:rows])


def test_rows_may_be_broken_into_lines(tmp_path: Path) -> None:
    motion = sbs.load_motion(written(tmp_path, ARM.replace("   ", "\n")))
    np.testing.assert_array_equal(motion.rotations, sbs.load_motion(written(tmp_path, ARM)).rotations)


def test_joints_without_channels_cost_no_memory_that_the_file_does_not_have(tmp_path: Path) -> None:
    joints = "".join(f"JOINT j{number}\n{{\n}}\n" for number in range(20_000))
    frames = "0\n" * 20_000
    text = f"HIERARCHY\nROOT r\n{{\nCHANNELS 1 Xrotation\n{joints}}}\nMOTION\nFrames: 20000\nFrame Time: 1\n{frames}"
    with pytest.raises(FileError, match="asks for more memory"):
        sbs.load_motion(written(tmp_path, text))


def test_many_joints_in_a_row(tmp_path: Path) -> None:
    depth = 20_000
    text = "HIERARCHY\nROOT r\n{\nCHANNELS 1 Xrotation\n" + "JOINT j\n{\n" * depth + "}\n" * depth
    motion = sbs.load_motion(written(tmp_path, f"{text}}}\nMOTION\nFrames: 1\nFrame Time: 1\n5\n"))
    assert motion.names[-1] == f"j_{depth}"


def test_a_motion_is_no_character_and_a_character_no_motion(tmp_path: Path) -> None:
    path = written(tmp_path, ARM)
    with pytest.raises(FileError, match=r"a.bvh: Biovision BVH holds a motion without a mesh, which sbs.load_motion"):
        sbs.load(path)
    with pytest.raises(FileError, match=r"holds a character, which sbs.load reads"):
        sbs.load_motion(WOMAN)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("LeftForeArm", "left forearm"),
        ("mixamorig:RightUpLeg", "right thigh"),
        ("lowerarm01.L", "left forearm"),
        ("Bip01 R Calf", "right shin"),
        ("thigh_l", "left thigh"),
        ("Armature|UpperArm.R", "right upper arm"),
        ("lowerleg.l", "left shin"),
        ("LHipJoint", "left hip joint"),
        ("Lefthand", "left hand"),
        ("Spine1", "chest"),
        ("mixamorig:Spine2", "chest"),
        ("DEF-upper_arm.L", "left upper arm"),
        ("DEF-upper_arm.L.001", None),
        ("DEF-spine", "hips"),
        ("DEF-spine.003", "chest"),
        ("ORG-forearm.L", None),
        ("legendary", None),
        ("", None),
    ],
)
def test_names(name: str, part: str | None) -> None:
    assert canonical(name) == part


def test_joints_are_matched_by_name_then_by_part_then_by_a_map() -> None:
    ours, theirs = ["root", "Hips", "LeftArm", "RightArm", "tail"], ["Hips", "upperarm.l", "upperarm_r", "tail"]
    assert matched(ours, theirs) == [(1, 0), (2, 1), (3, 2), (4, 3)]
    assert matched(ours, theirs, {"root": "Hips", "tail": "upperarm.l"}) == [(0, 0), (4, 1)]
    for names, message in (
        ({"nose": "Hips"}, "the motion has no joint 'nose'"),
        ({"Hips": "nose"}, "the character has no joint 'nose'"),
        ({"Hips": "tail", "root": "tail"}, "'tail' of the character is named twice"),
    ):
        with pytest.raises(ValueError, match=message):
            matched(ours, theirs, names)


@pytest.mark.parametrize(
    "arm", [["Collar", "Shoulder", "Elbow", "Wrist"], ["_collar", "_shoulder", "_elbow", "_wrist", "_hand"]]
)
@pytest.mark.parametrize("prefix", ["", "mixamorig:"])
def test_names_of_joints_in_anatomy(arm: list[str], prefix: str) -> None:
    """A shoulder is the upper arm of Biovision and SMPL, also where Mixamo's collar bone has the same name."""
    motion = [f"Left{name}" for name in [*arm, "Hip", "Knee", "Ankle"]]
    mixamo = [f"{prefix}Left{name}" for name in ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")]
    found = {motion[source]: mixamo[target] for source, target in matched(motion, mixamo)}
    assert found == dict(zip([*motion[:4], *motion[-3:]], mixamo, strict=True))


def walking(frames: int = 7) -> sbs.Motion:
    """A motion of joints named as CMU's, whose arms hang at rest, in another measure and with z upward."""
    names = ["Hips", "Spine", "LeftArm", "LeftForeArm", "LeftHand", "LeftUpLeg", "LeftLeg", "LeftFoot"]
    parents = np.array([-1, 0, 1, 2, 3, 0, 5, 6], np.int32)
    offsets = np.array(
        [[0, 0, 100], [0, 0, 30], [20, 0, 20], [5, 0, -30], [2, -2, -25], [10, 0, -10], [0, -2, -40], [0, 2, -42]]
    ).astype(float)
    rng = np.random.default_rng(8)
    rotations = sbs.rotations.matrices_from_rotation_vectors(rng.normal(size=(frames, 8, 3)))
    translations = np.repeat(offsets[None], frames, axis=0)
    translations[:, 0] += rng.normal(size=(frames, 3)) * 10
    return sbs.Motion("walk", tuple(names), parents, offsets, np.arange(frames) / 30, rotations, translations)


def test_bones_point_where_those_of_the_motion_do() -> None:
    """Whatever the skeletons rest in: the woman stands with her arms out, y upward and looking along z."""
    woman, motion = sbs.load(WOMAN), walking()
    animation = motion.onto(woman)
    pose = animation.skinning_matrices(motion.times) @ np.asarray(woman.skeleton.bind_matrices)
    _, positions = motion.turned()
    upright = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # from z to y upward, looking along -y to looking along z
    names = woman.skeleton.names
    for start, end in (("LeftArm", "LeftForeArm"), ("LeftForeArm", "LeftHand"), ("LeftUpLeg", "LeftLeg")):
        wanted = positions[:, motion.names.index(end)] - positions[:, motion.names.index(start)]
        found = pose[:, names.index(end), :3, 3] - pose[:, names.index(start), :3, 3]
        wanted, found = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (wanted, found))
        # The bind matrices of the file are float32, and so is the mesh.
        np.testing.assert_allclose(found, wanted @ upright.T, atol=1e-6)
    # The root goes as far, in the measure of the woman.
    moved = pose[:, names.index("Hips"), :3, 3] - np.asarray(woman.skeleton.bind_matrices)[names.index("Hips"), :3, 3]
    ratio = np.linalg.norm(moved, axis=1) / np.linalg.norm(positions[:, 0] - motion.offsets[0], axis=1)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert 0.05 < ratio[0] < 0.3  # she is 16 units tall, the motion's skeleton about 150


def test_a_skeleton_of_its_own_gets_the_motion_as_it_is() -> None:
    """Where the joints of the character rest as those of the motion do, they turn alike."""
    motion = walking()
    rest = motion.rest_positions()
    bind = np.tile(np.eye(4), (len(rest), 1, 1))
    bind[:, :3, 3] = rest
    skeleton = sbs.Skeleton(motion.parents, bind, names=motion.names)
    mesh = sbs.Mesh(rest, np.array([[0, 1, 2]], np.int32), np.arange(8, dtype=np.int32)[:, None], np.ones((8, 1)))
    character = sbs.Character.from_mesh(mesh, skeleton, name="bones")
    rotations, positions = motion.turned()
    animation = motion.onto(character)
    pose = animation.skinning_matrices(motion.times) @ bind
    np.testing.assert_allclose(pose[..., :3, :3], rotations, atol=1e-12)
    np.testing.assert_allclose(pose[..., :3, 3], positions, atol=1e-11)
    np.testing.assert_allclose(
        character.skin.deform_many(animation.skinning_matrices(motion.times)), positions, atol=1e-11
    )


def creature() -> sbs.Character:
    """Ten joints in a row, two of which are called as a human's."""
    names = ["Hips", *(f"tail{number}" for number in range(8)), "Neck"]
    bind = np.tile(np.eye(4), (10, 1, 1))
    bind[:, 2, 3] = np.arange(10)
    skeleton = sbs.Skeleton(np.arange(-1, 9), bind, names)
    joints = np.arange(10, dtype=np.int32)[:, None]
    mesh = sbs.Mesh(bind[:, :3, 3] + [[0, 1, 0]], np.array([[0, 1, 2]], np.int32), joints, np.ones((10, 1)))
    return sbs.Character.from_mesh(mesh, skeleton, name="wolf")


def human(count: int) -> sbs.Motion:
    """So many joints in a row: hips and neck, and others that only it has."""
    names = ("Hips", "Neck", *(f"finger{number}" for number in range(count - 2)))
    offsets = np.tile([0.0, 0.0, 1.0], (count, 1))
    rotations = np.tile(np.eye(3), (1, count, 1, 1))
    return sbs.Motion(
        "walk", names, np.arange(-1, count - 1, dtype=np.int32), offsets, np.zeros(1), rotations, offsets[None]
    )


@pytest.mark.parametrize(("joints", "warned"), [(3, False), (4, False), (5, True), (29, True)])
def test_few_joints_that_match_are_told(joints: int, warned: bool) -> None:
    """Two of them; half of the smaller skeleton, of three, four, five or ten joints, is enough."""
    message = f"only 2 of the {joints} joints of the motion 'walk' move any of the 10 of the character 'wolf'"
    with pytest.warns(UserWarning, match=message) if warned else contextlib.nullcontext():
        human(joints).onto(creature())
    human(joints).onto(creature(), {"Hips": "Hips", "Neck": "Neck"})  # which somebody wanted so


def test_which_joints_match() -> None:
    motion, character = human(29), creature()
    assert motion.matches(character) == {"Hips": "Hips", "Neck": "Neck"}
    names = {"finger3": "tail1", "Hips": "tail0"}
    assert motion.matches(character, names) == names
    assert list(motion.matches(character, names)) == ["Hips", "finger3"]
    assert motion.matches(character, {}) == {}
    with pytest.raises(ValueError, match="'nose'"):
        motion.matches(character, {"Hips": "nose"})
    with pytest.raises(ValueError, match="1 joints"):
        motion.onto(character, {"Hips": "Hips"})
    # By the part of the body, where names differ.
    cmu = walking().matches(sbs.load(WOMAN))
    assert cmu == {name: name for name in walking().names}
    renamed = dataclasses.replace(walking(), names=("pelvis", "Spine", *walking().names[2:]))
    assert renamed.matches(sbs.load(WOMAN))["pelvis"] == "Hips"


def test_the_command_shows_which_joints_match(tmp_path: Path) -> None:
    character, output = tmp_path / "wolf.glb", tmp_path / "a.npy"
    creature().save(character)
    names = ("Hips", "finger", "Neck", "thumb", "tip")
    joints = "".join(f"JOINT {name}\n{{\nOFFSET 0 0 1\nCHANNELS 1 Xrotation\n" for name in names)
    text = f"HIERARCHY\n{joints.replace('JOINT', 'ROOT', 1)}{'}' * 5}\nMOTION\nFrames: 1\nFrame Time: 1\n1 2 3 4 5\n"
    motion = written(tmp_path, text.replace("}" * 5, "}\n" * 5), "walk.bvh")
    told = succeed("deform", character, "--motion", motion, "-o", output)
    rows = [line.split() for line in told.splitlines()]
    assert all(row in rows for row in (["Hips", "Hips"], ["finger"], ["Neck", "Neck"], ["thumb"], ["tip"]))
    assert "walk: 2 of 5 joints move those of wolf, 3 none" in told
    assert "Warning: only 2 of the 5 joints of the motion 'walk' move any of the 10 of the character 'wolf'; " in told
    names_file = tmp_path / "names.json"
    names_file.write_text(json.dumps({"Hips": "Hips", "finger": "tail0", "Neck": "Neck"}))
    told = succeed("deform", character, "--motion", motion, "--joint-map", names_file, "-o", output)
    assert ["finger", "tail0"] in [line.split() for line in told.splitlines()]
    assert "3 of 5 joints" in told
    assert "Warning" not in told


def test_the_command(tmp_path: Path) -> None:
    text = ARM.replace("Left Arm", "LeftArm").replace("JOINT Hand", "JOINT LeftForeArm")
    motion = written(tmp_path, text)
    output = tmp_path / "a.npy"
    succeeded = CliRunner().invoke(
        main,
        [
            "deform",
            WOMAN,
            "--method",
            "SBS",
            "--motion",
            str(motion),
            "--frames",
            "0:1",
            "--fps",
            "20",
            "-o",
            str(output),
        ],
    )
    assert succeeded.exit_code == 0, succeeded.output
    woman = sbs.load(WOMAN)
    animation = sbs.load_motion(motion).onto(woman)
    expected = woman.skin.deform_many(animation.skinning_matrices([0, 0.05]))
    np.testing.assert_array_equal(np.load(output), expected)
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"Hips": "Hips", "LeftArm": "RightArm"}))
    command = ["deform", WOMAN, "--method", "SBS", "--motion", str(motion), "--joint-map", str(names), "--time", "0.05"]
    command += ["-o", str(output)]
    assert CliRunner().invoke(main, command).exit_code == 0
    animation = sbs.load_motion(motion).onto(woman, {"Hips": "Hips", "LeftArm": "RightArm"})
    np.testing.assert_array_equal(np.load(output), woman.skin.deform(animation.skinning_matrices(0.05)))
    for arguments, message in (
        (["--joint-map", str(names)], "--joint-map needs --motion"),
        (["--motion", str(motion), "--animation", "x"], "--motion takes the place of --animation"),
    ):
        refused = CliRunner().invoke(main, ["deform", WOMAN, *arguments, "-o", str(output)])
        assert refused.exit_code == 2
        assert message in refused.output
    names.write_text('{"Hips": 3}')
    assert "an object of names by names is needed" in " ".join(CliRunner().invoke(main, command).output.split())
