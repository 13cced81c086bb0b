# SPDX-License-Identifier: MIT
"""Quality over motions: poses, reports, and real characters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from solids import arm, block, turned

import sbs.quality
from sbs.characters import motions
from sbs.characters.limbs import ACROSS
from sbs.quality import (
    COLUMNS,
    MEASURES,
    METHODS,
    MeasuredMotion,
    Report,
    chosen,
    clip,
    evaluate,
    made_poses,
    report,
)
from sbs.quality.demo.scenes import knee, twist
from sbs.quality.plot import plot
from sbs.samples import load as load_sample
from sbs.skinning.twist import SIGMA


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return load_sample("hand")


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    return load_sample("woman")


@pytest.fixture(scope="module")
def fist(hand: sbs.Character) -> Report:
    return evaluate(hand, [clip(hand.animations[0], poses=4, rate=12)], chosen(["LBS", "SBS"]))


def posed(name: str, matrices: np.ndarray) -> MeasuredMotion:
    return MeasuredMotion(name, ("",) * len(matrices), matrices)


# -------------------------------------------------------------------------------------------------------------- motions


def test_a_clip_from_its_first_to_its_last_moment(hand: sbs.Character) -> None:
    motion = clip(hand.animations[0], poses=5, rate=10)
    np.testing.assert_array_equal(motion.times, [0, 0.25, 0.5, 0.75, 1])
    assert motion.labels[1] == "0.250 s"
    np.testing.assert_array_equal(motion.poses[4], hand.animations[0].skinning_matrices(1))
    (path,) = motion.paths
    assert len(path) == 11
    np.testing.assert_array_equal(path[3], hand.animations[0].skinning_matrices(0.3))
    np.testing.assert_array_equal(clip(hand.animations[0], poses=1).times, [0.5])
    with pytest.raises(ValueError, match="poses"):
        clip(hand.animations[0], poses=0)
    with pytest.raises(ValueError, match="rate"):
        clip(hand.animations[0], rate=0)


def test_made_poses_bend_across_the_bone_and_twist_about_it() -> None:
    character = arm()
    motion = made_poses(character)
    assert motion.labels == ("fore bent by 90°", "fore bent by 125°", "fore twisted by 170°")
    assert motion.focus == (1, 1, 1)
    for matrices, angle in zip(motion.poses, (90, 125, 170), strict=True):
        trace = np.trace(matrices[1, :3, :3])
        assert trace == pytest.approx(1 + 2 * np.cos(np.radians(angle)), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(matrices[1] @ [0, 0, 0, 1], [0, 0, 0, 1], atol=1e-12)
    tips = motion.poses[:, 1] @ [1, 0, 0, 1]
    np.testing.assert_allclose(tips[:, 0], [0, np.cos(np.radians(125)), 1], atol=1e-12)
    (path,) = motion.paths
    np.testing.assert_allclose(path[:, 1, 1, 1], np.cos(np.radians(np.arange(170, 191))), atol=1e-12)


def test_only_joints_that_share_vertices_with_their_parent_are_bent(woman: sbs.Character) -> None:
    names = {woman.skeleton.names[joint] for joint in motions.bending_joints(woman)}
    assert {"LeftForeArm", "RightLeg", "Neck1"} <= names
    assert "Hips" not in names
    with pytest.raises(ValueError, match="no joint shares a vertex with its parent"):
        made_poses(block())


def test_chosen_joints_and_methods() -> None:
    assert made_poses(arm(), ["fore"]).focus == (1, 1, 1)
    with pytest.raises(KeyError, match="no joint is named 'elbow'"):
        made_poses(arm(), ["elbow"])
    assert list(chosen(["SBS", "LBS"])) == ["SBS", "LBS"]
    assert list(chosen()) == [name for name in METHODS if name not in ("flesh", "best")]
    with pytest.raises(ValueError, match=r"method must be one of \['LBS', .*, not 'magic'$"):
        chosen(["magic"])


def test_twists_are_spread_where_there_are_limbs(woman: sbs.Character) -> None:
    """An arm that ends at its elbow has none: there these methods are as without."""
    whole, smooth = METHODS["twist"], METHODS["smooth twist"]
    none = arm()
    matrices = turned(none, "fore", [1, 1, 0], 100)
    np.testing.assert_array_equal(whole.skin(none).deform(matrices), none.skin.deform(matrices))
    centered = none.optimized_skin(sigma=SIGMA)
    expected = centered.deform(matrices, center="optimized", amount=ACROSS)
    np.testing.assert_array_equal(smooth.skin(none).deform(matrices, **smooth.options), expected)
    spread = sbs.limb_twist(woman)
    assert spread is not None
    posed = twist(woman).skinning_matrices
    expected = woman.twisted_skin(spread).deform(posed, **whole.options)
    np.testing.assert_array_equal(whole.skin(woman).deform(posed, **whole.options), expected)
    skin = woman.twisted_skin(spread, optimized=True)
    expected = skin.deform(posed, center="optimized", amount=sbs.twist_amounts(woman, spread))
    found = smooth.skin(woman)
    np.testing.assert_array_equal(found.deform(posed, **smooth.options), expected)
    np.testing.assert_array_equal(found.deform_many(posed[None], **smooth.options)[0], expected)


# -------------------------------------------------------------------------------------------------------------- reports


def test_over_a_motion_the_worst_counts() -> None:
    character = arm()
    matrices = np.stack([turned(character, "fore", [1, 0, 0], degrees) for degrees in (0, 90, 60)])
    results = evaluate(character, [posed("twist", matrices)], chosen(["LBS"]))
    result = results.results["twist", "LBS"]
    assert result.value("thickness", "smallest") == pytest.approx(np.sqrt(0.5), rel=1e-12)
    assert result.value("tear", "largest") == result.poses[1]["tear"]["largest"]
    assert result.worst_tear[0] == 1
    assert abs(character.mesh.positions[result.worst_tear[1], 0]) <= 1.1  # where the elbow is
    assert np.isnan(result.value("pop", "largest"))
    assert result.limbs.shape == (3, 2)
    row = dict(zip(COLUMNS, results.cells()[0], strict=True))
    assert row["pop"] == row["jump"] == "-"
    assert row["motion"] == "twist"


def test_paths_in_pieces_are_paths(monkeypatch: pytest.MonkeyPatch, hand: sbs.Character) -> None:
    """However a path is cut, every moment counts once."""
    motion = clip(hand.animations[0], poses=1, rate=20)
    gauge = sbs.quality.Gauge(hand)
    series = []
    for length in (100, 4, 1):
        monkeypatch.setattr(report, "AT_ONCE", length)
        path = report.path_pops(gauge, motion.paths[0], hand.skin, {"method": "spherical"})
        assert {name: len(values) for name, values in path.items()} == {"high": 19, "largest": 19, "jump": 18}
        series.append(path)
    for path in series[1:]:
        for name, values in path.items():
            np.testing.assert_allclose(values, series[0][name], atol=1e-12)


def test_two_motions_of_one_name_are_refused() -> None:
    character = block()
    motion = posed("still", np.tile(np.eye(4), (1, 2, 1, 1)))
    with pytest.raises(ValueError, match="'still' is the name of more than one"):
        evaluate(character, [motion, motion], chosen(["LBS"]))


def test_what_the_json_holds(fist: Report, hand: sbs.Character) -> None:
    """Programs read this: a change here raises SCHEMA."""
    facts = json.loads(json.dumps(fist.as_json(), allow_nan=False))
    assert facts["schema"] == 2
    assert list(facts) == ["schema", "character", "motions"]
    assert facts["character"] == {
        "name": "hand",
        "vertices": 1360,
        "welded_vertices": 1159,
        "triangles": 2314,
        "slivers_left_out": 0,
        "closed": True,
        "limbs": [hand.skeleton.names[joint] for joint in fist.gauge.limbs],
    }
    (motion,) = facts["motions"]
    assert list(motion) == ["name", "poses", "methods"]
    assert motion["poses"] == ["0.000 s", "0.333 s", "0.667 s", "1.000 s"]
    assert list(motion["methods"]) == ["LBS", "SBS"]
    result = motion["methods"]["SBS"]
    assert list(result) == [*MEASURES, "limbs", "worst_tear", "series", "pop_series"]
    for measure, statistics in MEASURES.items():
        assert tuple(result[measure]) == statistics
    assert list(result["limbs"]) == facts["character"]["limbs"]
    assert set(result["worst_tear"]) == {"pose", "vertex"}
    assert {len(values) for kinds in result["series"].values() for values in kinds.values()} == {4}
    assert min(result["series"]["volume"]["smallest"]) == result["volume"]["smallest"]
    assert [len(path) for path in result["pop_series"]] == [11]


def test_records_and_cells_tell_the_same(fist: Report) -> None:
    records = fist.records()
    assert [(record["motion"], record["method"]) for record in records] == [("fist", "LBS"), ("fist", "SBS")]
    assert len(records[0]) == 2 + sum(map(len, MEASURES.values()))
    for record, cells in zip(records, fist.cells(), strict=True):
        assert cells[COLUMNS.index("volume")] == f"{record['volume_smallest']:.1%}"
        assert float(cells[COLUMNS.index("tear largest")]) == pytest.approx(record["tear_largest"], rel=5e-3)


# ------------------------------------------------------------------------------------------------------ real characters


def test_the_woman(woman: sbs.Character) -> None:
    """LBS collapses her elbow and her knee; SBS and DQS bulge at the knee; limbs that do not move stay as they are."""
    scenes = [twist(woman), knee(woman)]
    results = evaluate(
        woman, [posed(scene.name, scene.skinning_matrices[None]) for scene in scenes], chosen(["LBS", "DQS", "SBS"])
    )
    value = {key: result.value for key, result in results.results.items()}
    twisted, bent = (scene.name for scene in scenes)
    assert value[twisted, "LBS"]("thickness", "low") < 0.15 < 0.3 < value[twisted, "SBS"]("thickness", "low")
    assert value[bent, "LBS"]("thickness", "high") < 1.1 < 1.3 < value[bent, "SBS"]("thickness", "high")
    assert value[bent, "SBS"]("thickness", "high") == pytest.approx(value[bent, "DQS"]("thickness", "high"), rel=1e-4)
    limbs = [woman.skeleton.names[joint] for joint in results.gauge.limbs]
    kept = results.results[twisted, "LBS"].limbs[0]
    assert kept[limbs.index("LeftForeArm")] < 0.95
    np.testing.assert_allclose(kept[limbs.index("RightForeArm")], 1, rtol=1e-5)


# ---------------------------------------------------------------------------------------------------------------- plots


def test_a_plot_of_clips_and_of_poses(tmp_path: Path, hand: sbs.Character) -> None:
    made = made_poses(hand, ["index-finger-phalanx-proximal"])
    still = posed("still", np.tile(np.eye(4), (1, 25, 1, 1)))
    plot([evaluate(hand, [made, still], chosen(["LBS", "SBS"]))], tmp_path / "curves.png")
    with Image.open(tmp_path / "curves.png") as picture:
        assert picture.width > 1000
        colors = picture.getcolors(1 << 20)
    assert colors is not None
    assert len(colors) > 100
    assert len(list(tmp_path.iterdir())) == 1
