# SPDX-License-Identifier: MIT
"""Damaged files of every format by the thousand: each is read, or refused with a `ValueError` that names it.

``python tests/fuzz/mutants.py --format glb --count 100000`` makes as many from small files and a seed; ``--seed`` and
``--only`` make one again. A character is deformed, and one from GLB saved and read again. USD and FBX, which are read
in a process of their own, take a second each.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import struct
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sbs
from sbs.tangents import deformed_tangents

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from gltf_builder import pack_glb  # noqa: E402

INTERESTING: list[object] = [
    None, True, -1, 0, 1, 2, 3, 4, 255, 65535, 2**31 - 1, 2**32, 2**53, 2**64, -(2**63), 1e308, -1e-308, 0.5,
    float("nan"), float("inf"), "", "x", "\ud800", "../x", [], [0], [1e300] * 16, {}, {"a": 1}, [[]], [None] * 3,
]  # fmt: skip
HUGE = [
    bytes.fromhex(word) for word in ["ffffff7f", "ffff7f7f", "000080ff", "ffffffff", "00000080", "0000807f", "0000c07f"]
]
HUGE += [bytes(4), b"\1\0\0\0"]
WORDS = [*b'999999999 -1 nan 1e999 0 { } * " ../../etc/passwd @/etc/passwd@'.split(), b"\n"]
SLOW = 20.0
"""Seconds that no small file may take, however busy the machine."""


def glb() -> list[bytes]:
    """Small files, one of which has everything, and of shapes, tangents and several meshes."""
    from test_gltf_bad_files import moving_arm
    from test_parts import dressed, otherwise_bound
    from test_shapes import talking
    from test_tangents import NORMALS, TANGENTS

    shaped = talking()
    attributes = shaped.json["meshes"][0]["primitives"][0]["attributes"]
    attributes |= {"NORMAL": shaped.accessor(NORMALS), "TANGENT": shaped.accessor(TANGENTS)}
    return [moving_arm().glb(), shaped.glb(), dressed(shapes=True).glb(), otherwise_bound().glb()]


def bvh() -> list[bytes]:
    """A motion of three joints."""
    from test_motion import ARM

    return [ARM.encode()]


def pmx() -> list[bytes]:
    """A model with spherical deformation."""
    from pmx_builder import elbow

    return [elbow(length=4, around=4).to_bytes()]


def usda() -> list[bytes]:
    """An asset as text."""
    return [(ROOT / "tests" / "data" / "arm.usda").read_bytes()]


def usdc() -> list[bytes]:
    """The same in binary."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.usdc")
        sbs.load(ROOT / "tests" / "data" / "arm.glb").save(path)
        return [path.read_bytes()]


def fbx() -> list[bytes]:
    """A tube with both kinds of skinning, as text, and a cuff that was bound in another pose."""
    from fbx_builder import cuff, tube

    return [tube("Blend", more=cuff(np.eye(4))).encode()]


ORIGINALS: dict[str, Callable[[], list[bytes]]] = {maker.__name__: maker for maker in (glb, bvh, pmx, usda, usdc, fbx)}


def unpack(glb: bytes) -> tuple[Any, bytes]:
    """The JSON object and the binary chunk of a good GLB."""
    size = struct.unpack_from("<I", glb, 12)[0]
    return json.loads(glb[20 : 20 + size]), glb[28 + size :]


def interesting(dice: random.Random) -> Any:
    """One of the values that are often forgotten; a list is a copy, since damaging it must not change others."""
    return copy.deepcopy(dice.choice(INTERESTING))


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every place of a JSON value: its list or object, and the number or key in it."""
    found = []
    waiting = [content]
    while waiting:
        container = waiting.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in items:
            found.append((container, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found


def damage_json(glb: bytes, dice: random.Random) -> bytes:
    """Other values, values of other places, things left out, doubled or many times over."""
    content, data = unpack(glb)
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        everywhere = places(content)
        container, key = dice.choice(everywhere)
        kind = dice.randrange(6)
        if kind == 0:
            container[key] = interesting(dice)
        elif kind == 1:
            other, place = dice.choice(everywhere)
            container[key] = json.loads(json.dumps(other[place]))
        elif kind == 2:
            del container[key]
        elif kind == 3 and isinstance(container[key], int | float) and not isinstance(container[key], bool):
            container[key] += dice.choice([-1, 1, 7, 0.5, 1000])
        elif kind == 4 and isinstance(container, list):
            container.extend(copy.deepcopy(container[key]) for _ in range(dice.choice([1, 2, 300])))
        elif isinstance(container, dict):
            container[
                dice.choice(["matrix", "children", "sparse", "normalized", "byteStride", "uri", "name", "skin"])
            ] = interesting(dice)
    return pack_glb(json.dumps(content).encode(), data)


def damage_numbers(glb: bytes, dice: random.Random) -> bytes:
    """Other bytes in the binary chunk: infinities, NaN, huge and tiny numbers, indices out of range."""
    content, data = unpack(glb)
    changed = bytearray(data)
    for _ in range(dice.choice([1, 4, 64])):
        place = dice.randrange(0, len(changed) - 4) & ~3
        changed[place : place + 4] = dice.choice(HUGE)
    return pack_glb(json.dumps(content).encode(), bytes(changed))


def damage_text(data: bytes, dice: random.Random) -> bytes:
    """Bytes, words and pieces changed, left out, doubled or moved."""
    changed = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 4, 16])):
        place = dice.randrange(len(changed) or 1)
        size = dice.choice([1, 4, 4, 16, 200])
        kind = dice.randrange(7)
        if kind == 0:
            changed[place : place + 1] = bytes([dice.randrange(256)])
        elif kind == 1:
            changed[place : place + 4] = dice.choice(HUGE)
        elif kind == 2:
            changed[place:place] = dice.choice(WORDS)
        elif kind == 3:
            del changed[place : place + size]
        elif kind == 4:
            changed[place:place] = changed[place : place + size] * dice.choice([1, 2, 50])
        elif kind == 5:
            other = dice.randrange(len(changed) or 1)
            changed[place : place + size] = changed[other : other + size]
        else:
            numbers = [spot for spot in range(len(changed)) if changed[spot : spot + 1].isdigit()]
            if numbers:
                spot = dice.choice(numbers)
                changed[spot : spot + 1] = dice.choice(WORDS)
    return bytes(changed)


def mutant(kind: str, seed: int, number: int, originals: list[bytes]) -> bytes:
    """The mutant of a number, whichever others were made."""
    dice = random.Random(f"{seed} {number}")
    if kind != "glb":
        return damage_text(dice.choice(originals), dice)
    damage = dice.choices([damage_json, damage_numbers, damage_text], [6, 1, 2])[0]
    return damage(dice.choice(originals), dice)


def mutants(kind: str, seed: int, numbers: Iterable[int]) -> Iterator[tuple[str, bytes]]:
    """Mutants, each with the options that make it again."""
    originals = ORIGINALS[kind]()
    for number in numbers:
        yield f"--format {kind} --seed {seed} --only {number}", mutant(kind, seed, number, originals)


def cuts(kind: str) -> Iterator[tuple[str, bytes]]:
    """A file cut off at every twentieth, with what it is."""
    data = ORIGINALS[kind]()[0]
    for part in range(20):
        yield f"{kind} cut off at {part} twentieths", data[: len(data) * part // 20]


def endure(kind: str, data: bytes, folder: Path) -> str:
    """Read a file: "refused", or "read" with all that one does with it. Anything else is an error.

    Raises
    ------
    AssertionError, or anything else that is no refusal
    """
    path = folder / f"mutant.{kind}"
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            if kind == "bvh":
                motion = sbs.load_motion(path)
                assert motion.rotations.shape == (len(motion.times), len(motion.names), 3, 3)
                return "read"
            character = sbs.load(path)
        except ValueError as error:
            assert str(path) in str(error), f"names no file: {error}"
            return "refused"
        if np.isfinite(character.rest_matrices).all():
            character.skin.deform(character.rest_matrices, **character.options)
        return use(character, folder) if kind == "glb" else "read"


def use(character: sbs.Character, folder: Path) -> str:
    """Deform a character in its animations, with its shapes and by its parts; save it and read it again."""
    frames = [
        character.rest_matrices,
        *(each.skinning_matrices(each.duration / 2) for each in character.animations),
    ]
    for matrices in frames[:4]:
        if np.isfinite(matrices).all():
            for method in ("linear", "spherical", "dual_quaternion"):
                assert character.skin.deform(matrices, method=method).shape == character.mesh.positions.shape
    for animation in (None, *character.animations[:2]):
        rest = character.shape_motion(animation).rest_positions(0.5)
        if np.isfinite(rest).all():
            character.skin.deform(character.rest_matrices, rest_positions=rest)
    if character.mesh.tangents is not None and character.skin.has_normals:
        _, normals = character.skin.deform(character.rest_matrices, normals=True)
        deformed_tangents(character.skin, character.mesh.tangents, character.rest_matrices, normals)
    if len(character.parts) > 1:
        part = character.parts[-1]
        assert part.skin.deform(character.rest_matrices).shape == part.mesh.positions.shape
        part.with_weights(*sbs.weights.limit(*part.skin.influences(), 1)).save(folder / "part.glb")
    saved = folder / "copy.glb"
    saved.unlink(missing_ok=True)
    character.save(saved)
    try:
        again = sbs.load(saved)
    except ValueError as error:
        # Matrices nearly singular or too large may be so in float32.
        assert any(word in str(error) for word in ("singular", "finite", "too large", "length 0")), error
        return "read, and refused when saved"
    more = bool(character.skin.unweighted_vertex_count)  # which get a joint that stands still
    assert again.skin.joint_count in (character.skin.joint_count, character.skin.joint_count + more)
    assert len(again.mesh.triangles) == len(character.mesh.triangles)
    return "read"


def run(kind: str, files: Iterable[tuple[str, bytes]], folder: Path) -> tuple[Counter[str], list[str]]:
    """How many files were read and refused, and the findings, a line for each."""
    outcomes: Counter[str] = Counter()
    findings = []
    for name, data in files:
        start = time.process_time()
        try:
            outcomes[endure(kind, data, folder)] += 1
        except Exception as error:  # whatever it is, it is a finding
            findings.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
        seconds = time.process_time() - start
        if seconds > SLOW:
            findings.append(f"{name}: {seconds:.0f} s for {len(data)} bytes")
    return outcomes, findings


def main() -> None:
    """Make mutants, and end with status 1 if one was neither read nor refused."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--format", choices=list(ORIGINALS), default="glb")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", type=int, help="only the mutant of this number, whose error is raised")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only is not None:
            _, data = next(mutants(options.format, options.seed, [options.only]))
            Path(f"mutant.{options.format}").write_bytes(data)
            print(endure(options.format, data, folder))
            return
        outcomes, findings = run(options.format, mutants(options.format, options.seed, range(options.count)), folder)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    print("\n".join(findings) or "no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
