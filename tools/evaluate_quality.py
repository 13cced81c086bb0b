# SPDX-License-Identifier: MIT
"""Measure the methods on real characters: the tables and the pictures of docs/quality.md.

    python tools/evaluate_quality.py CHARACTERS

CHARACTERS is the folder of make_test_data.py; what comes with the package and the tests is taken from there. Writes
docs/quality.json, docs/images/quality.png and docs/images/quality-curves.png, and from the numbers the part of
docs/quality.md between its markers. Without CHARACTERS it writes that part anew from docs/quality.json.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from quality_numbers import (
    AS_MUCH,
    ENERGIES,
    FLOORS,
    KINDS,
    LOSSES,
    MOST_TORN,
    OFFERED,
    PANEL,
    TEARS_OF,
    TWISTS_OF_LIMBS,
    all_energies,
    energy_shares,
    facts,
    geometric_mean,
    in_motion,
    largest_jump,
    losses_of,
    mean_losses,
    measured,
    most_torn,
    totals,
)
from quality_subjects import Subject, subjects
from sbs.picture import Camera, Row, compose
from sbs.quality import METHODS, Report
from sbs.quality.methods import TwistMethod
from sbs.quality.motions import TWIST
from sbs.quality.panel import FOOTNOTE, panel_row, shapes, worst_pose
from sbs.quality.plot import plot
from sbs.support.files import replacing

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BEGIN = "<!-- Written by tools/evaluate_quality.py: do not edit. -->\n"
END = "<!-- End of what tools/evaluate_quality.py writes. -->\n"


def section(numbers: dict[str, Any]) -> str:
    """The part of the page that has numbers."""
    scenes, motions, energies = numbers["scenes"], numbers["motions"], numbers["energies"]
    parts = ["### Tears of characters in motion", *motion_report(motions)]
    parts += ["### By the energy of the surface", *energy_report(energies)]
    parts += ["### Surface that crosses itself", *crossing_report(scenes)]
    losses = mean_losses(scenes)
    parts += ["### All together", *conclusion(scenes, losses)]
    return "\n" + "\n\n".join(parts) + "\n\n"


def motion_report(motions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The tears of characters in motion."""
    over_lbs = [item["tears"]["weighted"] / item["tears"]["LBS"] for item in motions]
    fewer = sum(ratio <= AS_MUCH for ratio in over_lbs)
    yield wrapped(
        "The table has the largest tear at any edge in any frame of all clips of a character. With weighted centers it"
        f" is at most {AS_MUCH:g} times that of LBS on {fewer} of {len(motions)} characters. DQS, which has no centers,"
        " tears as much as they do. Where they tear more than LBS, this is the price of limbs that keep their radius"
        " although the weights change a lot from one vertex to the next."
    )
    rows = [
        [
            item["name"],
            str(item["clips"]),
            f"{item['frames']:,}",
            *(f"{item['tears'][method]:.2f}" for method in TEARS_OF),
            f"{ratio:.3f}",
        ]
        for item, ratio in zip(motions, over_lbs, strict=True)
    ]
    yield table(["", "clips", "frames", *TEARS_OF, "weighted / LBS"], rows)


def energy_report(characters: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The second ranking, and what each character has to say in it."""
    columns = (*KINDS, TWISTS_OF_LIMBS)
    poses = {
        kind: sum(each["kinds"][kind]["poses"] for each in characters if kind in each["kinds"]) for kind in columns
    }
    yield wrapped(
        f"This ranking uses {len(characters)} characters: {poses['bends']} poses with a joint bent, {poses['twists']}"
        f" with one twisted by {TWIST:g}°, and {poses['clips']} moments of their clips. A joint is any that moves a"
        " part of the surface with its parent, also of a spine, a head, a finger or a tail."
        f" {poses[TWISTS_OF_LIMBS]} of the twists are of limbs, along which *twist* and *half twist* spread them; these"
        " have a column of their own beside *all*. For each character and each kind of pose"
        " there are three means: of the surface energy, of the bending energy, and of the volume that is lost or"
        " gained. Each is divided by that of LBS, or by its floor"
        f" ({', '.join(f'{energy} {floor:g}' for energy, floor in ENERGIES.items())}) if the floor is larger. The table"
        " has the geometric mean of the three ratios over all characters. Less is better. The measure ignores weights,"
        " joints and parts of the surface, so a method can't move a fault to where it is not counted."
    )
    shares = {kind: energy_shares(characters, kind) for kind in columns}
    means = {
        method: {kind: geometric_mean(list(shares[kind][method].values())) for kind in columns}
        for method in shares[KINDS[0]]
    }
    rows = [
        [
            method,
            *(f"{values[kind]:.3f}" for kind in KINDS),
            f"{geometric_mean([values[kind] for kind in KINDS]):.3f}",
            f"{values[TWISTS_OF_LIMBS]:.3f}",
        ]
        for method, values in means.items()
    ]
    yield table(["", *KINDS, "all", TWISTS_OF_LIMBS], rows)
    yield "The clips of each character:"
    names = list(shares["clips"]["LBS"])
    yield table(
        ["", *names],
        [[method, *(f"{values[name]:.3f}" for name in names)] for method, values in shares["clips"].items()],
    )


def crossing_report(scenes: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What crosses itself in each scene, by each method."""
    yield wrapped(
        "The table has the share of the surface that crosses another part of it and does not at rest, in the worst pose"
        " of each scene; the first two columns are of the knee that is bent by 125°. Where a limb is folded, as there"
        " and in the fist, its parts run into each other by every method. A limb that is wrung like a candy wrapper"
        " crosses itself, too, unless its twist is spread."
    )
    knee = next(scene for scene in scenes if scene["name"] == "bent knee")
    others = [scene for scene in scenes if scene is not knee]
    rows = [
        [
            method,
            f"{knee['methods'][method]['crossing']['triangles']:.0f}",
            *(f"{scene['methods'][method]['crossing']['area']:.2%}" for scene in (knee, *others)),
        ]
        for method in knee["methods"]
    ]
    yield table(["", "triangles, bent knee", *(scene["name"] for scene in (knee, *others))], rows)


def conclusion(scenes: Sequence[dict[str, Any]], losses: dict[str, dict[str, float]]) -> Iterator[str]:
    """The means over the scenes, and which method is to be the default by them."""
    total, torn = totals(losses), most_torn(scenes)
    jumps, half_turn = (largest_jump(scenes, through_half_a_turn=flag) for flag in (False, True))
    floors = ", ".join(f"{loss} {floor:g}" for loss, floor in FLOORS.items())
    yield wrapped(
        "The table has the mean losses over the scenes; 0 means no loss. They are the volume that is lost or gained,"
        " the volume that the worst limb loses, how much thinner the surface becomes, how much it bulges, how often its"
        " area is halved, how often it is doubled, and the tear. No loss is counted below 0, because shrinking where"
        " others bulge is no gain. *Together* is the mean of these losses, each divided by that of LBS, or by a floor"
        f" if LBS loses less than that ({floors}). *Torn most* is the largest tear of a scene as a multiple of that of"
        " LBS, in the scene where this multiple is largest. The last two columns have the largest jumps, outside of the"
        " twist through half a turn and in it."
    )
    rows = [
        [
            method,
            *(f"{losses[method][loss]:.3f}" for loss in LOSSES),
            f"{total[method]:.3f}",
            f"{torn[method]:.2f}",
            f"{jumps[method]:.3%}",
            f"{half_turn[method]:.3%}",
        ]
        for method in losses
    ]
    yield table(["", *LOSSES, "together", "torn most", "jump", "jump at 180°"], rows)
    yield "Together in each scene:"
    by_scene = {
        scene["name"]: totals({name: losses_of(each) for name, each in scene["methods"].items()}) for scene in scenes
    }
    shares = [[method, *(f"{each[method]:.3f}" for each in by_scene.values())] for method in losses]
    yield table(["", *by_scene], shares)
    best = default({method: losses[method] for method in OFFERED}, torn)
    apart = ", ".join(f"{method} ({times:.1f} times)" for method, times in torn.items() if times > MOST_TORN)
    yield wrapped(
        f"**The default should be {METHODS[best].label}.** Artists ask for limbs that neither collapse nor twist like"
        " candy wrappers, without new faults in exchange. So the default has to be a method that keeps more of the"
        f" thickness and of the worst limb than LBS, and that nowhere tears an edge more than {MOST_TORN:g} times as"
        f" much. Of such methods that the add-on has, {best} loses the least together, {total[best]:.3f} of what LBS"
        " loses." + (f" Methods that tear too much: {apart}." if apart else "")
    )
    spread = [f"{name} {total[name]:.3f}" for name, method in METHODS.items() if isinstance(method, TwistMethod)]
    plain = min((total[name], name) for name, method in METHODS.items() if not isinstance(method, TwistMethod))
    yield wrapped(
        f"With the twists of limbs spread along their bones, the figures are: {', '.join(spread)}. Of the methods"
        f" without, {plain[1]} loses the least, {plain[0]:.3f}."
    )


def default(losses: dict[str, dict[str, float]], torn: dict[str, float]) -> str:
    """The method that artists should get.

    What they ask for is that limbs neither collapse nor twist like candy wrappers, without new faults in exchange. So
    it is one that keeps more thickness and more of the worst limb than LBS, and whose surface does not come apart; of
    those, the one that loses least together.
    """
    keeping = [
        method
        for method, values in losses.items()
        if torn[method] <= MOST_TORN and all(values[loss] < losses["LBS"][loss] for loss in ("thinner", "limb"))
    ]
    together = totals(losses)
    return min(keeping or ["LBS"], key=lambda method: together[method])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(columns) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, rule, *rows])


def wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False))


def update_page(numbers: dict[str, Any], page: Path) -> None:
    """Replace the part between the markers.

    Raises
    ------
    ValueError
        If the page has not both markers.
    """
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{page} has no part to replace: {BEGIN.strip()}")
    before, rest = text.split(BEGIN)
    with replacing(page) as temporary:
        new = section(numbers)
        temporary.write_text(before + BEGIN + new + END + rest.split(END)[1], encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------- pictures


def seen(subject: Subject) -> NDArray[np.bool_]:
    """Which vertices (V,) are to be in view."""
    if not subject.joints:
        return np.ones(subject.character.skin.vertex_count, bool)
    chosen = [subject.character.skeleton.index(joint) for joint in subject.joints]
    mesh = subject.character.mesh
    return np.asarray(np.any(np.isin(mesh.joint_indices, chosen) & (mesh.joint_weights > 0.5), axis=1))


def picture_row(subject: Subject, report: Report, width: int, samples: int) -> Row:
    pose = worst_pose(report, subject.motion)
    camera = subject.camera
    if camera is None:
        shown = seen(subject)
        points = np.concatenate([shape[shown] for shape in shapes(report, subject.motion, pose).values()])
        camera = Camera.framing(points, subject.view, subject.up, aspect=subject.aspect)
    where = "" if subject.motion.times is None else f", at {subject.motion.labels[pose]}"
    size = (width, round(width / subject.aspect))
    return panel_row(report, subject.motion, pose, camera, size, samples=samples, caption=subject.caption + where)


@click.command(help=__doc__.splitlines()[0])
@click.argument("characters", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), default=DOCS)
@click.option("--width", default=320, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel; 0: no pictures.")
def main(characters: Path | None, docs: Path, width: int, samples: int) -> None:
    if characters is not None:
        motions, energies = list(in_motion(characters)), list(all_energies(characters))
        evaluate_all(list(subjects(characters)), motions, energies, docs, width, samples)
    update_page(json.loads((docs / "quality.json").read_text(encoding="utf-8")), docs / "quality.md")


def evaluate_all(
    chosen: Sequence[Subject],
    motions: Sequence[dict[str, Any]],
    energies: Sequence[dict[str, Any]],
    docs: Path,
    width: int,
    samples: int,
) -> None:
    """Write the numbers and the pictures."""
    scenes, reports, pictures = [], [], []
    for subject in chosen:
        report = measured(subject)
        scenes.append(facts(subject, report))
        reports.append(report)
        click.echo(f"{subject.name}: measured", err=True)
        if samples:
            pictures.append(picture_row(subject, report, width, samples))
            click.echo(f"{subject.name}: drawn", err=True)
    with replacing(docs / "quality.json") as temporary:
        numbers = {"schema": 2, "scenes": scenes, "motions": motions, "energies": energies}
        temporary.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if samples:
        headings = [method.label for method in PANEL.values()]
        with replacing(docs / "images" / "quality.png") as temporary:
            compose(pictures, headings, FOOTNOTE).save(temporary, optimize=True)
        moving = [report for report in reports if report.motions[0].times is not None]
        plot(moving, docs / "images" / "quality-curves.png")


if __name__ == "__main__":
    main()
