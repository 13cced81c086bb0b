# SPDX-License-Identifier: MIT
"""The page of a character: poses, colors and commands as arrays and texts, then the page itself in a browser."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import browsers, drawn, listened_to, wait_for

import sbs
from sbs.quality.methods import METHODS
from sbs.view import posing, shape

DATA = Path(__file__).parents[1] / "data"
HAND = str(resources.files("sbs.characters") / "data" / "hand.glb")


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


@pytest.fixture(scope="module")
def fox() -> sbs.Character:
    return sbs.load(DATA / "Fox.glb")


def test_turned_joints_are_the_pose(hand: sbs.Character) -> None:
    pose = posing.Posing(hand)
    np.testing.assert_array_equal(pose.matrices(), hand.skinning_matrices(np.tile(np.eye(3), (25, 1, 1))))
    pose.turns[3] = [0, 40, 0]
    turned = np.tile(np.eye(3), (25, 1, 1))
    turned[3] = sbs.rotations.matrices_from_axis_angle([0, 1, 0], 40, degrees=True)
    # Two ways to make a rotation matrix, in double precision.
    np.testing.assert_allclose(pose.matrices(), hand.skinning_matrices(turned), rtol=0, atol=1e-14)


def test_a_gizmo_turns_a_joint(fox: sbs.Character) -> None:
    """A joint whose parent is turned, too, in a scene that scales: its axes are then those of the gizmo."""
    pose = posing.Posing(fox)
    joint = 8
    pose.turns[int(fox.skeleton.parents[joint])] = [10, -50, 20]
    pose.turns[joint] = [0, 0, 30]
    wanted = np.array([0.5, -0.5, 0.1, 0.7]) / np.linalg.norm([0.5, -0.5, 0.1, 0.7])
    place = pose.frame(joint)[0]
    pose.turn_to(joint, wanted)
    after, axes = pose.frame(joint)
    assert abs(axes @ wanted) == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(after, place, rtol=0, atol=1e-9 * np.abs(place).max())
    pose.turn_to(joint, axes)  # where it is already
    assert abs(pose.frame(joint)[1] @ wanted) == pytest.approx(1, abs=1e-9)


def pose_matrices(arguments: list[str], character: sbs.Character) -> np.ndarray:
    """The pose that options of `sbs compare` say."""
    from sbs.cli.posing import parse_turns, turned_joints

    joints = [arguments[i + 1] for i in range(0, len(arguments), 2) if arguments[i] == "--joint"]
    turns = [arguments[i + 1] for i in range(0, len(arguments), 2) if arguments[i] == "--rotate"]
    nothing: Any = None
    return turned_joints(character, joints, parse_turns(nothing, nothing, turns))


def test_the_command_has_the_pose(hand: sbs.Character) -> None:
    pose = posing.Posing(hand)
    assert pose.arguments(2) == ["--joint", hand.skeleton.names[2], "--rotate", "x:0"]
    pose.turns[4] = [0, -33.5, 0]
    pose.turns[7] = [12, 20, -70]
    arguments = pose.arguments(2)
    assert arguments[:4] == ["--joint", hand.skeleton.names[4], "--rotate", "y:-33.5"]
    # Six digits of an angle and an axis.
    np.testing.assert_allclose(pose_matrices(arguments, hand), pose.matrices(), rtol=0, atol=1e-5)
    pose.animation, pose.time = "fist", 0.25
    assert pose.arguments(2) == ["--animation", "fist", "--time", "0.25"]


def test_colors_of_weights(hand: sbs.Character) -> None:
    surface = shape.Surface(hand)
    joint = 4
    steps = surface.weights(joint)
    alone = np.array([set(hand.skin.joint_sets[s]) == {joint} for s in hand.skin.joint_set_of_vertex])[surface.kept]
    without = np.array([joint not in hand.skin.joint_sets[s] for s in hand.skin.joint_set_of_vertex])[surface.kept]
    assert alone.any()
    assert np.all(steps[alone[surface.triangles].all(axis=1)] == shape.STEPS - 1)
    assert np.all(steps[without[surface.triangles].all(axis=1)] == 0)
    patches = surface.patches(steps)
    assert sum(len(patch.triangles) for patch in patches) == len(surface.triangles)
    for step, patch in enumerate(patches):
        expected = surface.kept[surface.triangles[steps == step]]
        np.testing.assert_array_equal(patch.vertices[patch.triangles], expected)


def test_colors_of_areas(fox: sbs.Character) -> None:
    """Areas are those of the scene: as they were, halved, doubled, gone."""
    surface = shape.Surface(fox)
    at_rest = fox.skin.deform(fox.skinning_matrices(np.tile(np.eye(3), (len(fox.skeleton), 1, 1))))
    middle = shape.STEPS // 2
    assert np.all(surface.areas(at_rest) == middle)
    for scale, step in ((0.5, 0), (2.0, shape.STEPS - 1), (0.0, 0), (2**0.5, shape.STEPS - 1), (2**0.25, 10)):
        found = surface.areas(at_rest * scale)
        assert set(found.tolist()) <= {step, step + (scale == 2**0.25)}, scale
    assert shape.AREA_COLORS[middle] == shape.PLAIN


def test_rotation_centers(hand: sbs.Character) -> None:
    """Of two joints, one bent: the center of the set of both is the point that they share."""
    x = np.linspace(-2, 2, 9, dtype=np.float32)
    positions = np.stack([x, np.ones_like(x), np.zeros_like(x)], axis=1)
    share = np.clip(0.5 + x, 0, 1)
    skin = sbs.Skin(positions, np.tile([0, 1], (9, 1)), np.stack([1 - share, share], axis=1))
    turned = np.tile(np.eye(4), (2, 1, 1))
    turned[1, :3, :3] = sbs.rotations.matrices_from_axis_angle([0, 0, 1], 90, degrees=True)
    turned[:, :3, 3] = [0.25, 0, 0]
    posed = skin.deform(turned)
    (center,) = shape.rotation_centers(skin, METHODS["SBS"], turned, posed)
    # The center's place along the axis of the turn is that of the vertices; damping moves it by 1e-8 of the rest.
    np.testing.assert_allclose(center, [0.25, 0, 0], rtol=0, atol=1e-6)
    for name in ("LBS", "DQS", "weighted", "twist"):
        assert not shape.has_centers(METHODS[name])
        assert len(shape.rotation_centers(skin, METHODS[name], turned, posed)) == 0
    bound = hand.optimized_skin()
    pose = posing.Posing(hand).matrices()
    found = shape.rotation_centers(bound, METHODS["optimized"], pose, hand.skin.deform(pose))
    assert 0 < len(found) <= 1360


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browsers()


@contextmanager
def shown(window: Any, browser: Any) -> Iterator[Any]:
    """The page of a window in the browser, without errors."""
    thread = threading.Thread(target=window.run)
    thread.start()
    errors: list[str] = []
    page = listened_to(browser, errors)
    try:
        page.goto(window.address)
        yield page
        assert errors == []
    finally:
        page.close()
        window.stop()
        thread.join()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages below viser
def test_the_page(fox: sbs.Character, browser: Any, tmp_path: Path) -> None:
    """It loads, sliders move the vertices that the browser draws, and its console has no errors."""
    from sbs.view import Window

    told: list[str] = []
    window = Window(fox, ("LBS", "SBS"), file=DATA / "Fox.glb", port=18080, told=told.append)
    count = len(shape.Surface(fox).kept)

    def shows(method: str) -> Callable[[], bool]:
        """Whether the browser draws the pose as it is deformed here again."""

        def is_so() -> bool:
            page.wait_for_timeout(100)
            expected = fox.skin.deform(window.posing.matrices(), **METHODS[method].options)
            points = expected[shape.Surface(fox).kept] * window._scale
            # Both are float32; the mesh is two units across.
            return any(np.abs(mesh - points).max() < 1e-5 for mesh in drawn(page, count))

        return is_so

    def choose(number: int, text: str) -> None:
        page.locator(".mantine-Select-input").filter(visible=True).nth(number).click()
        page.get_by_role("option", name=text, exact=True).click()

    with shown(window, browser) as page:
        wait_for(shows("SBS"))
        choose(1, fox.skeleton.names[8])
        wait_for(lambda: window._joint == 8)
        slider = page.locator("[role=slider]").filter(visible=True).nth(0)
        slider.focus()
        for _ in range(8):
            page.keyboard.press("ArrowLeft")
        wait_for(lambda: window.posing.turns[8, 0] == -4.0)
        number = page.locator(".mantine-NumberInput-input").nth(2)
        number.fill("77")
        number.press("Enter")
        wait_for(lambda: window.posing.turns[8].tolist() == [-4, 77, 0])
        wait_for(shows("SBS"))
        wait_for(shows("LBS"))
        page.get_by_role("button", name="Command of sbs compare").click()
        wait_for(lambda: len(told) == 1)
        words = shlex.split(told[0])
        assert words[:4] == ["sbs", "compare", str(DATA / "Fox.glb"), "--joint"]
        assert words[4] == fox.skeleton.names[8]
        with page.expect_download() as download:
            page.get_by_role("button", name="Picture").click()
        download.value.save_as(tmp_path / "view.png")
        assert (tmp_path / "view.png").read_bytes().startswith(b"\x89PNG")
        for coloring in ("weights of the joint", "areas lost and won", "none"):
            before = window.updates
            choose(2, coloring)
            wait_for(lambda before=before: window.updates > before)  # type: ignore[misc]
        page.get_by_text("Rotation centers").click()
        choose(0, "Run")
        wait_for(lambda: window.posing.animation == "Run")
        moment = page.locator(".mantine-NumberInput-input").nth(0)
        moment.fill("0.25")  # when it is enabled
        moment.press("Enter")
        wait_for(lambda: window.posing.time == 0.25)
        page.get_by_text("Play").click()
        start = window.posing.time
        wait_for(lambda: window.posing.time not in (0.0, start))
        page.get_by_text("Play").click()
        wait_for(lambda: not window._play.value)
        page.wait_for_timeout(500)
        wait_for(shows("SBS"))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages below viser
def test_muscles(browser: Any) -> None:
    """Beside SBS the same with muscles: skin that covers them, their surfaces on demand, and the command has them."""
    from sbs.view import Window

    woman = sbs.samples.load("woman")
    cover = sbs.muscles.bind(woman, sbs.muscles.fit(woman))
    window = Window(woman, ("SBS",), file=Path("woman.glb"), cover=cover, port=18180)
    window.posing.turns[woman.skeleton.index("LeftForeArm")] = [100, 0, 0]
    matrices = window.posing.matrices()
    bare = woman.skin.deform(matrices)
    covered = np.array(bare)
    cover.apply(covered, matrices)
    kept = shape.Surface(woman).kept
    bellies, triangles = shape.bellies(cover, matrices)
    np.testing.assert_array_equal(bellies[:384], cover.surface(0, matrices)[0])
    last, corners = cover.surface(17, matrices)
    np.testing.assert_array_equal(bellies[triangles[-1]], last[corners[-1]])

    def shows(points: np.ndarray) -> bool:
        page.wait_for_timeout(100)
        # Both are float32; the mesh is two units across.
        return any(np.abs(mesh - points * window._scale).max() < 1e-5 for mesh in drawn(page, len(points)))

    with shown(window, browser) as page:
        wait_for(lambda: shows(bare[kept]) and shows(covered[kept]))
        assert np.abs(covered - bare).max() * window._scale > 1e-3
        assert drawn(page, len(bellies)) == []
        page.get_by_text("Muscles", exact=True).click()
        wait_for(lambda: shows(bellies))
        before = window.updates
        page.get_by_text("Muscles", exact=True).click()
        wait_for(lambda: window.updates > before)
        command = shlex.split(window.command(np.array([0, 0, 1]), np.array([0, 1, 0])))
        assert command[command.index("--muscles") + 1] == "fit"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages below viser
def test_correctives() -> None:
    """The last of the methods is there once more, with the shapes, and the command has them."""
    from sbs.view import Window

    woman = sbs.samples.load("woman")
    pose, knee = posing.Posing(woman), woman.skeleton.index("LeftLeg")
    pose.turns[knee] = [-90, 0, 0]
    matrices = pose.matrices()
    sculpted = np.array(woman.skin.deform(matrices))
    sculpted[woman.mesh.joint_indices[:, 0] == knee] += np.array([0, 0, 0.1], np.float32)
    correctives = sbs.correctives.Correctives(woman.skeleton)
    correctives.add(matrices, sculpted, joints=["LeftLeg"])
    correctives.solve(woman.skin)
    window = Window(woman, ("LBS", "SBS"), correctives=correctives, correctives_from="knee.json", port=18181)
    try:
        assert list(window._methods) == ["LBS", "SBS", "corrected"]
        assert window._methods["corrected"].options == {"method": "spherical", "correctives": correctives}
        window.posing.turns[knee] = [-90, 0, 0]
        window.update()
        _, plain, corrected = (figure.positions for figure in window._figures)
        np.testing.assert_array_equal(plain, woman.skin.deform(matrices))
        np.testing.assert_array_equal(corrected, woman.skin.deform(matrices, correctives=correctives))
        assert np.abs(corrected - plain).max() > 0.09
        command = shlex.split(window.command(np.array([0, 0, 1]), np.array([0, 1, 0])))
        assert command[command.index("--correctives") + 1] == "knee.json"
    finally:
        window.stop()
