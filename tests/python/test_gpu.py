# SPDX-License-Identifier: MIT
"""`sbs.gpu` against `Skin` in float64."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import characters
import numpy as np
import pytest
from commands import refuse, succeed
from marks import computes
from numpy.typing import NDArray
from solids import turned

import sbs
from sbs.gpu import Deformer
from sbs.skinning.gpu.deformer import default_device
from sbs.support.extras import MissingExtraError

pytestmark = [computes, pytest.mark.usefixtures("device")]

# Shares of the size. The errors that any shader may have here, and how much worse than linear blending it may be.
POSITIONS, OVER_LINEAR = 6e-7, 4.0
# Unit normals.
NORMALS = 5e-7

WAYS: dict[str, dict[str, Any]] = {
    "joint_set": {},
    "weighted": {"center": "weighted"},
    "half": {"amount": 0.5},
}


def widened(skin: sbs.Skin) -> sbs.Skin:
    """The same skin in float64, of the same numbers."""
    wide = {
        "rest_positions": skin.rest_positions.astype(float),
        "rest_normals": None if skin.rest_normals is None else skin.rest_normals.astype(float),
        "centers": None if skin.centers is None else skin.centers.astype(float),
    }
    return sbs.Skin.quietly(**{**skin._arguments(), **wide})


def size_of(skin: sbs.Skin) -> float:
    return float(np.linalg.norm(np.ptp(skin.rest_positions.astype(float), axis=0)))


def farthest(found: NDArray[Any], wanted: NDArray[Any]) -> float:
    return float(np.linalg.norm(found.astype(float) - wanted, axis=-1).max())


def errors(skin: sbs.Skin, matrices: NDArray[Any], **options: Any) -> tuple[float, float]:
    """Of positions, of the size, and of normals."""
    positions, normals = Deformer(skin, **options).deform_many(matrices, normals=True)
    assert positions.dtype == normals.dtype == np.float32
    wanted, directions = widened(skin).deform_many(matrices, normals=True, **options)
    return farthest(positions, wanted) / size_of(skin), farthest(normals, directions)


def assert_precise(skin: sbs.Skin, matrices: NDArray[Any], **options: Any) -> None:
    found, normals = errors(skin, matrices, **options)
    by_linear, normals_by_linear = errors(skin, matrices, method="linear")
    assert found < min(POSITIONS, OVER_LINEAR * by_linear)
    assert max(normals, normals_by_linear) < NORMALS


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", characters.NAMES)
def test_characters(name: str, way: str) -> None:
    character = characters.load(name)
    skin = sbs.Skin.quietly(
        character.rest_positions.astype(np.float32),
        character.joint_indices,
        character.joint_weights,
        parents=character.parents,
        joint_positions=character.joint_positions,
        rest_normals=character.rest_normals.astype(np.float32),
    )
    poses = [character.clips[clip].skinning_matrices(frame) for clip, frame in character.poses()]
    assert_precise(skin, np.stack(poses), **WAYS[way])


@pytest.mark.parametrize("name", sbs.samples.NAMES)
def test_optimized_centers(name: str) -> None:
    character = sbs.samples.load(name)
    names = character.skeleton.names[::5]
    matrices = np.stack([turned(character, name, [1.0, 0.3, 0.2], 70.0) for name in names])
    assert_precise(character.optimized_skin(), matrices, center="optimized")


def test_smooth_twist() -> None:
    woman = sbs.samples.load("woman")
    twist = sbs.limb_twist(woman)
    assert twist is not None
    names = [woman.skeleton.names[joint] for joint in twist.joints]
    matrices = np.stack([turned(woman, name, [1.0, 0.3, 0.2], 100.0) for name in names])
    skin, amount = woman.twisted_skin(twist, optimized=True), sbs.twist_amounts(woman, twist)
    assert 0.0 < amount.mean() < 1.0
    assert_precise(skin, matrices, center="optimized", amount=amount)
    angles = twist.angles(matrices, follow=True) + 0.1
    found = Deformer(skin).deform_many(matrices, twists=angles)
    wanted = widened(skin).deform_many(matrices, twists=angles)
    assert farthest(found, wanted) < POSITIONS * size_of(skin)


def random_skin(joint_count: int = 4) -> sbs.Skin:
    random = np.random.default_rng(3)
    positions = random.uniform(-1.0, 1.0, (512, 3)).astype(np.float32)
    weights = random.dirichlet(np.ones(joint_count), 512)
    indices = np.tile(np.arange(joint_count), (512, 1))
    return sbs.Skin(positions, indices, weights, rest_normals=positions)


def random_poses(angle: float, frames: int = 32) -> NDArray[np.float64]:
    random = np.random.default_rng(4)
    matrices = np.tile(np.eye(4), (frames, 4, 1, 1))
    matrices[..., :3, :3] = sbs.rotations.matrices_from_rotation_vectors(angle * random.standard_normal((frames, 4, 3)))
    matrices[..., :3, 3] = 0.1 * random.standard_normal((frames, 4, 3))
    return matrices


@pytest.mark.parametrize("center", ["joint_set", "weighted"])
@pytest.mark.parametrize(("angle", "share"), [(1.0, POSITIONS), (1e-2, 2e-7), (1e-4, 2e-7)])
def test_joints_that_are_nearly_parallel(angle: float, share: float, center: str) -> None:
    """Whose centers are thousands of sizes away."""
    assert errors(random_skin(), random_poses(angle), center=center)[0] < share


def test_chunks_are_as_one() -> None:
    hand = sbs.samples.load("hand")
    matrices = hand.animations[0].skinning_matrices(np.linspace(0.0, 1.0, 11))
    deformer = Deformer(hand.skin)
    assert deformer.most_frames > 1000
    positions, normals = deformer.deform_many(matrices, normals=True)
    out, out_normals = np.empty_like(positions), np.empty_like(normals)
    assert deformer.deform_many(matrices, normals=True, chunk=4, out=out, out_normals=out_normals)[0] is out
    np.testing.assert_array_equal(out, positions)
    np.testing.assert_array_equal(out_normals, normals)
    np.testing.assert_array_equal(deformer.deform_many(matrices[:, :, :3], threads=1), positions)
    assert deformer.deform_many(matrices[:0]).shape == (0, *positions.shape[1:])


def test_more_than_the_device_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a batch is done in parts, unless it is to stay on the device."""
    skin, matrices = random_skin(), random_poses(1.0)
    whole = Deformer(skin).deform_many(matrices)
    deformer = Deformer(skin)
    monkeypatch.setitem(deformer.__dict__, "most_frames", 5)
    np.testing.assert_array_equal(deformer.deform_many(matrices), whole)
    with pytest.raises(ValueError, match="32 frames"):
        deformer.deform_on_device(matrices)
    few = {**deformer.device.limits, "max-compute-workgroups-per-dimension": 7}
    monkeypatch.setattr(type(deformer.device), "limits", few)
    with pytest.raises(ValueError, match="512 vertices"):
        Deformer(skin).deform_many(matrices)


def test_frames_stay_on_the_device(device: Any) -> None:
    skin, matrices = random_skin(), random_poses(1.0)
    made = Deformer(skin, device=device).deform_on_device(matrices, normals=True)
    assert made.shape == (32, 512, 3)
    wanted = Deformer(skin).deform_many(matrices, normals=True)
    for buffer, rows in zip((made.positions, made.normals), wanted, strict=True):
        read = np.frombuffer(device.queue.read_buffer(buffer), np.float32)
        np.testing.assert_array_equal(read.reshape(made.shape), rows)
    assert Deformer(skin).deform_on_device(matrices).normals is None


@pytest.mark.parametrize("options", [{"damping": 1e-5}, {"rcond": 1e-3}, {"center": "weighted", "damping": 1e-7}])
def test_how_centers_are_solved(options: dict[str, Any]) -> None:
    assert errors(random_skin(), random_poses(1e-2), **options)[0] < POSITIONS


def test_vertices_without_weights_stay() -> None:
    skin = sbs.Skin.quietly(np.eye(3, dtype=np.float32), [[0], [0], [0]], [[1.0], [0.0], [1.0]], rest_normals=np.eye(3))
    matrices = np.eye(4)[None, None].copy()
    matrices[..., :3, 3] = 5.0
    found = Deformer(skin).deform_many(matrices)
    np.testing.assert_array_equal(found, skin.deform_many(matrices))
    np.testing.assert_array_equal(found[0, 1], [0.0, 1.0, 0.0])


def test_scaled_and_stretched_joints() -> None:
    """Where the shader can't deform them as the library does, it says so; elsewhere it does."""
    hand = sbs.samples.load("hand")
    skin = hand.optimized_skin()
    matrices = hand.animations[0].skinning_matrices(np.linspace(0.0, 1.0, 3))
    alike, scaled, stretched = matrices.copy(), matrices.copy(), matrices.copy()
    alike[..., :3, :3] *= 1.25
    scaled[..., :3, :3] *= np.random.default_rng(5).uniform(0.8, 1.25, (matrices.shape[1], 1, 1))
    stretched[..., :3, :3] @= np.diag([1.25, 1.0, 1.0])
    ways: list[dict[str, Any]] = [{"method": "linear"}, {"amount": 0.5}, {}]
    ways += [{"center": "weighted"}, {"center": "optimized"}]
    refused = {(str(way), kind): False for way in ways for kind in ("alike", "scaled", "stretched")}
    for way in ways:
        deformer = Deformer(skin, **way)
        for kind, given in (("alike", alike), ("scaled", scaled), ("stretched", stretched)):
            for normals in (False, True):
                wanted: Any = widened(skin).deform_many(given, normals=normals, **way)
                try:
                    found: Any = deformer.deform_many(given, normals=normals)
                except ValueError as error:
                    assert f"joints are {kind}" in str(error)
                    refused[str(way), kind] |= not normals
                    continue
                if normals:
                    assert farthest(found[1], wanted[1]) < NORMALS
                    found, wanted = found[0], wanted[0]
                assert farthest(found, wanted) < POSITIONS * size_of(skin)
    positions_refused = {key for key, value in refused.items() if value}
    assert positions_refused == {
        *((str(way), kind) for way in ways[1:3] for kind in ("scaled", "stretched")),
        (str(ways[4]), "stretched"),
    }


def test_two_joints_that_are_scaled_differently() -> None:
    """Also about the center of a set of just two."""
    skin = random_skin(2)
    matrices = random_poses(0.5, frames=1)[:, :2]
    matrices[:, 1, :3, :3] *= 1.1
    with pytest.raises(ValueError, match="1 joints are scaled"):
        Deformer(skin).deform_many(matrices)
    assert errors(skin, matrices, center="weighted")[0] < POSITIONS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "DQS"}, "method='DQS' is not for graphics processors"),
        ({"method": "rigid"}, "method='rigid' is not"),
        ({"rotation": "average"}, "rotation='average' is not"),
        ({"center": "weighted", "damping": 1e-4}, "damping=0.0001 is not"),
        ({"amount": 0.5, "base": "DQS"}, "base='DQS' is not"),
        ({"amount": 0.5, "base": {"method": "rigid"}}, "base is not"),
        ({"twists": np.zeros((1, 2))}, "twists is not"),
        ({"shape_weights": [1.0]}, "shape_weights is not"),
        ({"method": "linear", "center": "weighted"}, "center has no effect"),
        ({"amount": 2.0}, r"amount\[0\] must be between 0 and 1"),
        ({"center": "optimized"}, "needs a skin with centers"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Deformer(random_skin(), **options)


def test_arguments_that_are_refused() -> None:
    deformer, matrices = Deformer(random_skin()), random_poses(1.0, 2)
    bare = Deformer(sbs.Skin(np.eye(3), [[0]] * 3, [[1.0]] * 3))
    wrong: list[tuple[Deformer, Any, dict[str, Any], str]] = [
        (deformer, matrices[0], {}, r"\(F, J, 4, 4\)"),
        (deformer, 1.0, {}, r"\(F, J, 4, 4\)"),
        (deformer, matrices[:, :2], {}, r"skinning_matrices"),
        (deformer, matrices, {"chunk": 0}, "chunk is 0"),
        (deformer, matrices, {"out_normals": np.zeros((2, 512, 3), np.float32)}, "without normals=True"),
        (deformer, matrices, {"out": np.zeros((2, 512, 3))}, "out has shape .* of float64"),
        (deformer, matrices, {"out": np.zeros((1, 512, 3), np.float32)}, "out has shape"),
        (deformer, np.full_like(matrices, np.nan), {}, "is nan"),
        (bare, np.tile(np.eye(4), (2, 1, 1, 1)), {"normals": True}, "needs a skin with rest_normals"),
    ]
    for each, given, options, message in wrong:
        with pytest.raises(ValueError, match=message):
            each.deform_many(given, **options)


def test_a_device_that_was_lost_is_replaced() -> None:
    hand = sbs.samples.load("hand")
    matrices = hand.animations[0].skinning_matrices([0.2])
    default_device.cache_clear()  # other tests have the one before
    lost = Deformer(hand.skin, center="weighted")
    before = lost.deform_many(matrices)
    lost.device.destroy()
    with pytest.raises(RuntimeError, match="graphics processor was lost"):
        lost.deform_many(matrices)
    np.testing.assert_array_equal(Deformer(hand.skin, center="weighted").deform_many(matrices), before)


def test_without_wgpu_or_an_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    import wgpu

    def refuse(**_: Any) -> None:
        raise RuntimeError("Request adapter failed")

    default_device.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "wgpu", None)
            with pytest.raises(MissingExtraError, match="need wgpu, which is not installed: pip install"):
                Deformer(random_skin())
        with monkeypatch.context() as patch:
            patch.setattr(wgpu.gpu, "request_adapter_sync", refuse)
            with pytest.raises(MissingExtraError, match="mesa-vulkan-drivers"):
                Deformer(random_skin())
    finally:
        default_device.cache_clear()


def test_frames_by_the_command(tmp_path: Path) -> None:
    sbs.samples.load("hand").save(tmp_path / "hand.glb")
    common = ["deform", tmp_path / "hand.glb", "--animation", "fist", "--fps", 12, "--center", "weighted"]
    succeed(*common, "-o", tmp_path / "here.npy")
    succeed(*common, "--gpu", "-o", tmp_path / "there.npy")
    here, there = np.load(tmp_path / "here.npy"), np.load(tmp_path / "there.npy")
    assert there.dtype == np.float32
    np.testing.assert_allclose(there, here, atol=1e-6 * np.ptp(here))
    assert not np.array_equal(there, here)


def test_what_the_command_refuses(tmp_path: Path) -> None:
    hand = tmp_path / "hand.glb"
    sbs.samples.load("hand").save(hand)
    common = ["deform", hand, "--animation", "fist", "--gpu", "-o"]
    frames = ["--fps", 12]
    for arguments, message in (
        ([tmp_path / "a.glb"], "--gpu needs --fps or --frames"),
        ([tmp_path / "a.npy", *frames, "--method", "DQS"], "method='dual_quaternion' is not for graphics processors"),
        ([tmp_path / "a.npy", *frames, "--scheduler", "tcp://farm:1"], "--scheduler"),
        ([tmp_path / "a.npy", *frames, "--correctives", "draft"], "--gpu deforms without --correctives"),
        ([tmp_path / "a_#.obj", *frames], "a file for each frame is not written on a graphics processor"),
    ):
        assert message in refuse(*common, *arguments)
    assert sorted(tmp_path.iterdir()) == [hand]


def test_baking_by_a_deformer_refuses_options(tmp_path: Path) -> None:
    hand = sbs.samples.load("hand")
    clip = hand.animations[0]
    with pytest.raises(ValueError, match="a deformer has its options"):
        sbs.formats.bake(
            tmp_path / "a.npy", hand.skin, clip, clip.frames(12.0), deformer=Deformer(hand.skin), method="linear"
        )
