# SPDX-License-Identifier: MIT
"""Write the files of the scene on the page "In three.js": three.js, the package for it, and a character in two files.

    python tools/three_page.py build/three build/page

The first folder has three.js as one module with other names than "three" has; `three.js` beside its copy exports them
as "three" does. The woman bends an elbow and a knee and twists her forearms, in a clip that is made here.
"""

from __future__ import annotations

import argparse
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

import sbs
from sbs.rigging.animation import Track

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 4.0
KEYS = 41

# Rotation vectors in degrees, in the axes of the joints, at the height of the movement.
MOVEMENT = {
    "LeftForeArm": (0.0, 0.0, 90.0),
    "RightForeArm": (0.0, 0.0, -90.0),
    "LeftHand": (0.0, 170.0, 0.0),
    "RightHand": (0.0, -170.0, 0.0),
    "LeftUpLeg": (-70.0, 0.0, 0.0),
    "LeftLeg": (125.0, 0.0, 0.0),
}


def exported_names(text: str) -> list[str]:
    """The names of the frozen object that a bundle exports as THREE; values may be whole classes."""
    (variable,) = re.findall(r"(\w+) as THREE\b", text)
    start = re.search(rf"\b{re.escape(variable)}=Object\.freeze\(\{{__proto__:null,", text)
    assert start is not None
    names, depth, at = [], 0, start.end()
    name = re.compile(r"(\w+):")
    token = re.compile(r'"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[(){}\[\],]')
    while depth >= 0:
        if depth == 0 and (found := name.match(text, at)):
            names.append(found[1])
        found = token.search(text, at)
        assert found is not None
        depth += (found[0] in "({[") - (found[0] in ")}]")
        at = found.end()
    return names


def names_module(bundle: Path, address: str) -> str:
    """A module with the exports of "three", from a bundle that pages find at an address."""
    names = exported_names(bundle.read_text(encoding="utf-8"))
    return (
        "// The names of three.js, which is beside this: Copyright 2010-2025 Three.js Authors, MIT licence.\n"
        f'import {{ THREE }} from "{address}";\n'
        f"export const {{ {', '.join(names)} }} = THREE;\n"
    )


def woman() -> sbs.Character:
    """The woman with a clip of the movement, there and back."""
    character = sbs.samples.load("woman")
    times = np.linspace(0.0, SECONDS, KEYS)
    shares = 0.5 - 0.5 * np.cos(2.0 * np.pi * times / SECONDS)
    nodes = [character.rig.names.index(name) for name in MOVEMENT]
    vectors = shares[:, None, None] * np.radians(list(MOVEMENT.values()))
    rest = sbs.rotations.matrices_from_quaternions(character.rig.quaternions[nodes])
    turned = rest @ sbs.rotations.matrices_from_rotation_vectors(vectors)
    keys = sbs.rotations.quaternions_from_matrices(turned)
    track = Track("rotation", "LINEAR", np.array(nodes), times, keys)
    return replace(character, animations=sbs.Animations([sbs.Animation("bend and twist", (track,), character.rig)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("three", type=Path, help="has three.js as index.js")
    parser.add_argument("folder", type=Path, help="receives _static/three, beside the site's own")
    arguments = parser.parse_args()
    folder = arguments.folder / "_static" / "three"
    folder.mkdir(parents=True, exist_ok=True)
    bundle = arguments.three / "index.js"
    shutil.copy(bundle, folder)
    (folder / "three.js").write_text(names_module(bundle, "./index.js"), encoding="utf-8")
    shutil.copytree(ROOT / "engines" / "three", folder / "spherical", dirs_exist_ok=True)
    character = woman()
    character.save(folder / "plain.glb")
    character.for_engine("three").save(folder / "smooth_twist.glb")


if __name__ == "__main__":
    main()
