# SPDX-License-Identifier: MIT
"""One vocabulary: methods by their names and by their abbreviations, types that are exported, results that go on."""

from __future__ import annotations

import copy
import pickle
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import sbs
from sbs import quality, weights
from sbs.cli import main
from sbs.cli.options import MethodChoice
from sbs.quality.demo import bench
from sbs.quality.methods import method_key

SHORT: dict[sbs.Method, sbs.Method] = {"linear": "LBS", "spherical": "SBS", "dual_quaternion": "DQS"}
HAND = str(Path(sbs.__file__).parent / "characters" / "data" / "hand.glb")


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    with resources.as_file(resources.files("sbs.characters") / "data" / "hand.glb") as path:
        return sbs.load(path)


@pytest.mark.parametrize(("name", "short"), SHORT.items())
def test_methods_have_two_names(hand: sbs.Character, name: sbs.Method, short: sbs.Method) -> None:
    skin, matrices = hand.skin, hand.animations["fist"].skinning_matrices([0.5, 1])
    expected = skin.deform(matrices[1], method=name)
    np.testing.assert_array_equal(skin.deform(matrices[1], method=short), expected)
    np.testing.assert_array_equal(skin.deform_many(matrices, method=short)[1], expected)
    np.testing.assert_array_equal(
        skin.inverse_deform(expected, matrices[1], method=short),
        skin.inverse_deform(expected, matrices[1], method=name),
    )
    half = skin.deform(matrices[1], method="rigid", amount=0.5, base=name)
    np.testing.assert_array_equal(skin.deform(matrices[1], method="rigid", amount=0.5, base=short), half)
    np.testing.assert_array_equal(skin.deform(matrices[1], method="rigid", amount=0.5, base={"method": short}), half)


def test_an_abbreviation_has_the_options_of_its_method(hand: sbs.Character) -> None:
    matrices = hand.rest_matrices
    with pytest.raises(ValueError, match="rotation has no effect on method='LBS', but on 'spherical' alone"):
        hand.skin.deform(matrices, method="LBS", rotation="average")
    with pytest.raises(ValueError, match="base: center has no effect on method='DQS'"):
        hand.skin.deform(matrices, amount=0.5, base={"method": "DQS", "center": "weighted"})
    hand.skin.deform(matrices, method="SBS", rotation="average")


@pytest.mark.parametrize("word", ["lbs", "Linear", "LINEAR"])
def test_case_does_not_matter(hand: sbs.Character, word: Any) -> None:
    """Nor do spaces, hyphens and underscores, in all that takes methods."""
    matrices = hand.animations["fist"].skinning_matrices(1.0)
    expected = hand.skin.deform(matrices, method="linear")
    np.testing.assert_array_equal(hand.skin.deform(matrices, method=word), expected)
    dual: Any = "Dual-Quaternion"
    expected = hand.skin.deform(matrices, method="dual_quaternion")
    for blended in ({"amount": 1, "method": dual, "base": word}, {"amount": 0, "base": {"method": dual}}):
        np.testing.assert_allclose(hand.skin.deform(matrices, **blended), expected, rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match=f"rotation has no effect on method='{word}'"):
        hand.skin.deform(matrices, method=word, rotation="average")
    np.testing.assert_array_equal(
        hand.skin.weight_jacobian(7, matrices, method=word), hand.skin.weight_jacobian(7, matrices, method="linear")
    )
    rest, posed = hand.mesh.positions[:9], expected[:9]
    np.testing.assert_array_equal(
        weights.fit(rest, posed[None], matrices[None], method=word)[1],
        weights.fit(rest, posed[None], matrices[None], method="linear")[1],
    )
    np.testing.assert_array_equal(
        weights.reachable(rest[0], matrices[:2], method=dual).points,
        weights.reachable(rest[0], matrices[:2], method="DQS").points,
    )
    assert list(quality.chosen([word, "Smooth-Twist", "sbs", "OPTIMIZED"])) == [
        "LBS",
        "smooth twist",
        "SBS",
        "optimized",
    ]
    timings = bench.measure(hand.skin, matrices, methods=[word, dual], rounds=1)
    assert [timing.method for timing in timings] == ["linear", "dual_quaternion"]


@pytest.mark.parametrize("word", ["half twist", "Half-Twist"])
def test_a_former_name_is_understood(word: str) -> None:
    assert list(quality.chosen([word])) == ["smooth twist"]
    assert MethodChoice(quality.METHODS, method_key).convert(word, None, None) == "smooth twist"


WRONG = [
    ("magic", r"'magic'$"),
    ("lbs ", r"'lbs '; did you mean 'LBS'\?$"),
    ("sphericl", r"'sphericl'; did you mean 'spherical'\?$"),
    ("Dual Quaternoin", r"'Dual Quaternoin'; did you mean 'dual_quaternion'\?$"),
    ("optimized", r"'optimized', which is method='spherical' with center='optimized'$"),
    ("Weighted", r"'Weighted', which is method='spherical' with center='weighted'$"),
    ("average", r"'average', which is method='spherical' with rotation='average'$"),
]


@pytest.mark.parametrize(("word", "message"), WRONG)
def test_words_that_are_none(hand: sbs.Character, word: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^method must be .*'spherical', .*'SBS'.*\], not {message}"):
        hand.skin.deform(hand.rest_matrices, method=word)
    if "which is" in message:  # a name where methods are named, but no option
        return
    result = CliRunner().invoke(main, ["deform", HAND, "--method", word, "-o", "a.npy"], env={"COLUMNS": "999"})
    assert result.exit_code == 2
    assert re.search(message.removesuffix("$"), result.output), result.output


def test_typos_in_other_tables() -> None:
    for command in (["quality", HAND, "--methods", "optimised"], ["view", HAND, "--method", "optimised"]):
        result = CliRunner().invoke(main, command, env={"COLUMNS": "999"})
        assert result.exit_code == 2
        assert "did you mean 'optimized'?" in result.output


def test_results_go_into_the_tools_as_they_are(hand: sbs.Character) -> None:
    mesh, skeleton = hand.mesh, hand.skeleton
    heat = weights.heat_weights(mesh.positions, mesh.triangles, *weights.bone_segments(skeleton))
    assert heat.report.method == "heat"
    limited = weights.limit(*heat, 2)
    assert limited.joint_indices.shape == (1360, 2)
    np.testing.assert_array_equal(weights.limit(heat.joint_indices, heat.joint_weights, 2)[1], limited[1])
    mirrored = weights.mirror(mesh.positions, mesh.triangles, *heat, np.arange(25))
    carried = weights.transfer(mesh.positions, mesh.triangles, *mirrored, mesh.positions[:7])
    assert len(carried.distances) == 7
    assert hand.with_weights(*heat).skin.max_influences > 2
    for result, extra in ((heat, "report"), (mirrored, "unmatched"), (carried, "distances")):
        assert isinstance(result, weights.Influences)
        weights.normalize(*result)
        again = pickle.loads(pickle.dumps(result))
        assert type(again) is type(result)
        assert repr(getattr(again, extra)) == repr(getattr(result, extra))
        assert getattr(copy.copy(result), extra) is getattr(result, extra)


def test_what_is_deprecated_still_works() -> None:
    mesh = sbs.Mesh(
        positions=np.arange(9.0).reshape(3, 3),
        triangles=np.array([[0, 1, 2]], np.int32),
        joint_indices=np.array([[0], [1], [2]], np.int32),
        joint_weights=np.ones((3, 1)),
        shapes=(sbs.BlendShape("smile", np.array([2, 1], np.int32), np.array([[0.5, 0, 0], [0, 0.5, 0]])),),
    )
    with pytest.warns(DeprecationWarning, match="no order of vertices is faster"):
        moved = mesh.reordered([2, 0, 1])
    np.testing.assert_array_equal(moved.positions, mesh.positions[[2, 0, 1]])
    np.testing.assert_array_equal(moved.triangles, [[1, 2, 0]])
    np.testing.assert_array_equal(moved.shapes[0].vertices, [0, 2])
    skin = sbs.Skin(mesh.positions, mesh.joint_indices, mesh.joint_weights, joint_count=3)
    with pytest.warns(DeprecationWarning, match="no order of vertices is faster"):
        np.testing.assert_array_equal(skin.vertex_order, [0, 1, 2])


@pytest.mark.parametrize("name", list(quality.METHODS))
def test_a_name_is_the_same_method_in_all_commands(name: str, tmp_path: Path) -> None:
    """By sbs deform as sbs quality and sbs compare measure it; no name is smooth twist."""
    woman, path = sbs.samples.load("woman"), Path(sbs.__file__).parent / "characters" / "data" / "woman.glb"
    turned = ("--joint", "LeftForeArm", "--rotate", "bone:120")
    pose = sbs.poses.turned(woman.skeleton, "LeftForeArm", sbs.poses.bone_axis(woman.skeleton, "LeftForeArm"), 120)
    method = quality.METHODS[name]
    matrices = woman.skinning_matrices(pose)
    expected = method.skin(woman).deform(matrices, **method.options)
    for words in (("--method", name), *([()] if name == "smooth twist" else [])):
        output = tmp_path / "pose.npy"
        result = CliRunner().invoke(main, ["deform", str(path), *turned, *words, "-o", str(output)])
        assert result.exit_code == 0, result.output
        np.testing.assert_allclose(np.load(output), expected, atol=1e-5)  # angles go through text, in float32
    if name == "smooth twist":
        np.testing.assert_array_equal(woman.deform(matrices), expected)
        with pytest.raises(TypeError, match="center"):
            woman.deform(matrices, center="weighted")  # type: ignore[call-overload]  # by intent
    result = CliRunner().invoke(main, ["compare", str(path), *turned, "--methods", f"LBS,{name}"])
    assert method.label in result.output
