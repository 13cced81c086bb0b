# SPDX-License-Identifier: MIT
"""Command lines that ask for nothing or for the impossible: a line names the option, and nothing is written."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

import numpy as np
import pytest
from commands import refuse
from gltf_builder import arm

import sbs

DATA = Path(sbs.__file__).parent / "characters" / "data"

# A command, and a part of the message. `arm` moves for a second; `woman` and `hand` come with the package.
REFUSALS = """
info none.glb | 'none.glb' does not exist
deform hand --animation jump -o a.npy | 'jump'; there are: fist
deform hand -o a.stl | 'a.stl' does not end in .glb, .obj, .ply, .npy
deform hand -o no/folder.npy | folder.npy: No such file or directory
deform hand --method magic -o a.npy | --method
deform hand --center magic -o a.npy | --center
deform hand --center weighted --centers-cache c -o a.npy | --centers-cache needs --center optimized
deform arm --method linear --center weighted -o a.obj | --center needs --method spherical
deform arm --method dual_quaternion --rotation average -o a.obj | --rotation needs --method spherical
deform hand --amount half -o a.npy | 'half' is neither
deform hand --amount 1.5 -o a.npy | amount[0]
deform hand --across 1.5 -o a.npy | --across
deform arm --base linear -o a.obj | --base needs --amount or --across
deform arm --across 0.35 --amount 1 -o a.obj | --across takes the place of --amount
deform hand --fps 30 -o a.npy | --fps needs --animation
deform hand --fps 0 --animation fist -o a.npy | --fps
deform arm --animation wave --fps inf -o a.npy | fps is inf
deform arm --animation wave --fps 1e300 -o a.npy | 1,000,000 frames
deform arm --animation wave --time 0.5 --fps 24 -o a.npy | --fps takes the place of --time
deform arm --time 0 -o a.obj | --time needs --animation
deform arm --animation wave --time 1.5 -o a.obj | lasts 1 s
deform arm --animation wave --time -0.5 -o a.obj | lasts 1 s
deform hand -o #.obj | '#' needs --fps or --frames
deform hand --animation fist --fps 4 -o #a#.obj | more than one '#'
deform arm --scheduler tcp://a:1 -o a.npy | --scheduler needs --fps or --frames
deform arm --animation wave --fps 9 --scheduler tcp://127.0.0.1:1 -o a_#.obj | a file for each frame is not written on a
deform arm --animation wave --fps 9 --scheduler tcp://127.0.0.1:1 -o a.npz | 'a.npz' does not end in .npy, .pc2, .mdd
deform arm --animation wave --fps 4 --scheduler tcp://a:1 --gpu -o a.npy | --gpu takes the place of --scheduler
deform arm --animation wave --fps 4 --scheduler tcp://a:1 --muscles fit -o a.npy | without --muscles
deform arm --animation wave --fps 4 --scheduler tcp://a:1 --correctives draft -o a.npy | without --correctives
deform arm --animation wave --fps 4 --gpu --correctives draft -o a.npy | without --correctives
deform hand --animation fist --frames 3:99 -o a.pc2 | 3:99 is not within 0:24
deform hand --animation fist --frames 9:3 -o a.pc2 | 9:3 is not within 0:24
deform hand --animation fist --frames a -o a.pc2 | 'a' is not A:B
deform hand --animation fist --frames 1:2 --time 1 -o a.pc2 | --frames takes the place of --time
deform hand --frames 1:2 -o a.pc2 | --frames needs --animation
deform hand --animation fist -o a.pc2 | 'a.pc2' holds frames: --fps or --frames is needed
deform hand --animation fist --fps 24 -o a.obj | 'a.obj' holds one pose: 'a_####.obj'
deform hand --animation fist --fps 24 -o a.ply | .glb, .usdc, .usd, .npy,
deform hand --animation fist --fps 24 -o a.xyz | 'a.xyz' does not end in
deform arm --joint-map arm -o a.obj | --joint-map needs --motion
deform hand --joint wrist -o a.npy | --joint and --rotate go together
deform hand --rotate x:1 --rotate x:2 --joint wrist -o a.npy | --joint and --rotate go together
deform hand --joint wrist --rotate x:1 --animation fist -o a.npy | --joint takes the place of --animation
deform hand --joint wrist --rotate x:1 --joint 24 --rotate y:1 -o a.npy | 'wrist' is turned twice
deform hand --joint wrist --rotate up:1 -o a.npy | 'up' is not a direction
deform hand --muscles none.json -o a.npy | does not exist
deform hand --muscles fit -o a.npy | no joint is known as
correctives draft hand --shapes 9 -o a.json | --shapes needs --all
correctives draft hand --all --joint wrist -o a.json | --all takes the place of --joint
correctives draft hand --all --shapes 9 --error 0.1 -o a.json | --shapes takes the place of --error
deform arm --correctives draft -o a.npy | --correctives: no hinge was found
deform arm --correctives draft --bones-blending elbow --method linear -o a.npy | --bones-blending takes the place of
compare arm --joint elbow --rotate x:9 --bones-blending elbow --correctives draft | no hinge
deform arm --twist auto -o a.npy | no limb was found
deform woman --twist Elbow -o a.npy | no joint 'Elbow'
deform woman --twist Hips -o a.npy | 'Hips' is a root
deform woman --twist LeftArm,LeftArm -o a.npy | more than once
deform woman --method smooth-twist --center weighted -o a.npy | takes the place of --center
deform woman --method smooth-twist --amount 0.5 -o a.npy | takes the place of --amount
deform woman --method smooth-twist --twist none -o a.npy | has no --twist none
deform woman --method weighted --twist auto -o a.npy | takes the place of --twist
deform woman --method optimized --rotation average -o a.npy | takes the place of --rotation
deform woman --twist auto --bones-blending all -o a.npy | --bones-blending takes the place of --twist
deform arm --bones-blending shoulder -o a.obj | 'shoulder' has no parent
deform woman --bones-blending Tail -o a.npy | no joint 'Tail'
deform woman --t-min -1 -o a.npy | --t-min needs --bones-blending
deform woman --bones-blending LeftArm --zone-scale 0 -o a.npy | --zone-scale
deform woman --bones-blending LeftArm --fit-zones --zone-scale 2 -o a.npy | --fit-zones takes the place of --zone-scale
deform woman --bones-blending LeftArm --fit-zones --t-min -1 --t-max 1 -o a.npy | --fit-zones: all ends
deform woman --bones-blending LeftArm --zone-scale 2 --t-min -1 --t-max 1 -o a.npy | --zone-scale: all ends
deform woman --bones-blending LeftArm --t-min Tail=-1 -o a.npy | --t-min: no joint 'Tail'
deform woman --bones-blending LeftArm --t-min LeftArm=far -o a.npy | 'LeftArm=far' is neither
deform woman --bones-blending LeftArm --t-min nan -o a.npy | 'nan' is neither
deform woman --bones-blending LeftArm --t-max 1 --t-max 2 -o a.npy | '2': all joints
deform woman --bones-blending LeftArm --t-max LeftArm=1 --t-max LeftArm=2 -o a.npy | 'LeftArm=2': LeftArm
deform woman --bones-blending LeftArm --t-max LeftForeArm=1 -o a.npy | joint 'LeftForeArm' is not blended
deform woman --bones-blending LeftArm --t-max 1 --t-max LeftArm=1 -o a.npy | has no joint left
deform woman --bones-blending LeftArm --t-min 1 --t-max -1 -o a.npy | t_min is 1, not below t_max, -1
compare hand --methods magic | magic
compare hand --joint elbow --rotate x:1 | no joint 'elbow'; the file has: pinky
compare hand --joint 25 --rotate x:1 | no joint '25'
compare hand --joint Wrist --rotate x:1 | did you mean 'wrist'?
compare hand --joint wrist --rotate x | 'x' is not AXIS:DEGREES
compare hand --joint wrist --rotate 0,0,0:9 | '0,0,0' is not a direction
compare hand --joint thumb-tip --rotate bone:9 | 'thumb-tip' has no child
compare hand --animation fist -o a.jpg | 'a.jpg' does not end in .png
compare hand --animation fist --view 1,2 | '1,2' is not a direction
compare arm --joint elbow --rotate x:30 --time 0.5 | --joint takes the place of --time
compare arm --animation wave --time 2 | lasts 1 s
compare arm --animation wave --samples 3 | --samples needs --output
compare woman --joint LeftArm --rotate x:9 --t-max 1 | --t-max needs --bones-blending
convert arm --amount 0.5 -o a.glb | --amount needs --correctives or --engine
convert arm --method linear -o a.glb | --method needs --correctives
convert arm --engine three --method linear -o a.glb | --engine three takes the place of --method
convert arm --engine three -o a.usdc | .glb
weights hand | one of --output, --capsules-out and --check
weights hand --heat | one of --output, --capsules-out and --check
weights hand --reach 1 -o a.glb | --reach needs --for
weights hand --heat -o a.gltf | 'a.gltf' does not end in .glb
weights hand --show wrist | --show needs --output
weights hand --show wrist -o a.glb | 'a.glb' does not end in .png
weights hand --show elbow -o a.png | no joint 'elbow'
weights hand --capsules-out c.json | --capsules-out needs --capsules
weights hand --capsules none.json --check | none.json: No such file
weights hand --prune 2 --check | --prune
weights hand --limit 0 --check | --limit
weights hand --limit 2 -o a.glb --json | --json needs --check
weights arm --check --width 300 | --width needs --show
weights arm --joints all --check | --joints needs --heat or --capsules auto
weights arm --fit arm --heat -o a.glb | --fit takes the place of --heat
quality none.glb | 'none.glb' does not exist
quality hand --methods LBS,magic | 'magic'
quality hand --animation jump | 'jump'; there are: fist
quality hand --joint wrist | --joint needs --poses
quality hand --poses --joint elbow | no joint 'elbow'
quality hand --frames 0 | --frames
quality hand --rate 0 | --rate
quality hand --rate nan | rate
quality hand --rate 1e300 | rate
quality hand -o a.jpg | 'a.jpg' does not end in .png
quality hand --plot a.gif | 'a.gif' does not end in .png or .svg
quality hand --frames 2 --rate 4 --methods LBS --csv no/folder.csv | folder.csv: No such file or directory
quality arm --up 0,0,1 | --up needs --output
quality arm --poses --frames 3 | --frames needs an animation
quality woman --twist Elbow | no joint 'Elbow'
quality woman --twist LeftForeArm --methods LBS,SBS | --twist needs a method that spreads twists
quality woman --methods LBS,twist --twist none | 'twist'
quality hand --methods optimised | did you mean 'optimized'?
convert hand --engine three -o web.usda | --engine three needs a name that ends in .glb
convert hand --engine three -o web.gltf | 'web.gltf' does not end in .glb
convert hand --engine three -o web.glb --method dqs | --engine three takes the place of --method
convert hand --engine three -o web.glb --center optimized | --engine three takes the place of --center
convert hand --engine three -o web.glb --amount 2 | amount must be between 0 and 1
convert hand --engine three -o web.glb --amount 1 --across 1 | --across takes the place of --amount
convert hand --engine three -o web.glb --twist elbow | no joint 'elbow'
convert hand --twist auto -o web.glb | --twist needs --correctives or --engine
convert hand --center weighted -o out.glb | --center needs --correctives
subdivide woman --joint Tail -o a.glb | no joint 'Tail'; the file has: Hips
subdivide woman --joint LeftArm -o a.obj | a.obj
subdivide woman --joint LeftArm --levels 0 -o a.glb | --levels
subdivide woman -o a.glb | --joint
subdivide woman --joint LeftArm --bent -1 -o a.glb | --bent
subdivide woman --joint LeftArm --method linear -o a.glb | --method needs --bent
curvature woman --joint Tail | no joint 'Tail'
curvature woman --joint LeftArm --bones-blending Tail | --bones-blending: no joint 'Tail'
curvature woman --joint LeftArm --subdivide Tail | --subdivide: no joint 'Tail'
curvature arm --joint elbow --bones-blending elbow --method linear | --bones-blending takes the place of --method
curvature woman --joint LeftArm --t-max LeftArm=1 | --t-max needs --bones-blending
curvature woman --joint LeftArm --bend 135 | '135' is not FROM:TO
curvature woman --joint LeftArm --bend 5:5 | '5:5' is not FROM:TO
curvature woman --joint LeftArm --axis up | 'up' is not a direction
curvature woman --joint LeftForeArm --axis y | the axis is along the bone
curvature woman --joint LeftArm -o a.jpg | 'a.jpg' does not end in .png or .svg
view hand --method LBS --method LBS | up to three different
view hand --method LBS --method SBS --method DQS --correctives draft | with that of --correctives
view hand --method optimised | did you mean 'optimized'?
view hand --muscles fit --no-browser | no joint is known as
bench --threads 0 | '0' is not a list
bench --threads two | 'two' is not a list
bench --rounds 0 | --rounds
bench --vertices 59 | --vertices
bench --animation fist | --animation needs FILE
bench --time 1 | --time needs FILE
muscles hand | no joint is known as
muscles woman --json -o - | --json and --output - would both
quality hand --csv - -o - | --csv - and --output - would both
weights hand --check -o - --json | --output - and --json would both
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    builder = arm()
    half = [0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8)]
    builder.animation((1, "rotation", [0, 1], [[0, 0, 0, 1], half]), name="wave")
    moving = builder.save(tmp_path_factory.mktemp("moving") / "arm.glb")
    return {"arm": str(moving), "hand": str(DATA / "hand.glb"), "woman": str(DATA / "woman.glb")}


@pytest.mark.parametrize("row", REFUSALS.strip().splitlines())
def test_a_line_says_what_is_wrong(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    line, reason = row.split(" | ")
    assert reason in refuse(*(files.get(word, word) for word in shlex.split(line)))
    assert not list(tmp_path.iterdir())
