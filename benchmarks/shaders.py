# SPDX-License-Identifier: MIT
"""The cost of the shader, counted with glslangValidator and spirv-tools.

Scalar operations of a vertex with 4 influences, positions and normals, in SPIR-V that ``spirv-opt -O`` has made of
`engines/glsl/spherical.glsl`; an addition and a multiplication are two, also where they are one instruction. They say
how methods compare on a graphics processor that has to compute and not to wait.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sbs.cli.tables import print_table

from . import ROOT

SOURCE = ROOT / "engines" / "glsl" / "spherical.glsl"
MOST = {"optimized centers and an amount": 350, "weighted centers": 775}
"""How many operations there may be."""

HEAD = """#version 450
layout(location=0) in vec3 position;
layout(location=1) in vec3 normal;
layout(location=2) in uvec4 joints;
layout(location=3) in vec4 weights;
layout(location=4) in vec4 center;
layout(location=5) in float joint_set;
layout(binding=0) uniform sampler2D palette;
layout(location=0) out vec3 moved;
layout(location=1) out vec3 turned;
"""
MAIN = """
vec4 texel(uint i) { return texelFetch(palette, ivec2(int(i) & 255, int(i) >> 8), 0); }
mat4x3 matrix(uint i) { return transpose(mat3x4(texel(i), texel(i + 1), texel(i + 2))); }
void main() {
  mat4x3 m0 = matrix(4 * joints[0]), m1 = matrix(4 * joints[1]), m2 = matrix(4 * joints[2]), m3 = matrix(4 * joints[3]);
  vec4 q0 = texel(4 * joints[0] + 3), q1 = texel(4 * joints[1] + 3);
  vec4 q2 = texel(4 * joints[2] + 3), q3 = texel(4 * joints[3] + 3);
  SbsSums sums = sbs_begin(weights[0], m0, q0);
  sums = sbs_add(sums, weights[1], m1, q1);
  sums = sbs_add(sums, weights[2], m2, q2);
  sums = sbs_add(sums, weights[3], m3, q3);
  gl_Position = vec4(0.0);
"""
FIND = """
  SbsCenter found = sbs_begin_center(sums, position, weights[0], m0);
  found = sbs_add_center(found, sums, position, weights[1], m1, q1);
  found = sbs_add_center(found, sums, position, weights[2], m2, q2);
  found = sbs_add_center(found, sums, position, weights[3], m3, q3);
  moved = sbs_about_weighted_center(found, 1.0);
"""
TURNED = "turned = sbs_turned(sums, normal);"
METHODS = {
    "linear blending": """
        moved = sbs_linear(sums, position);
        turned = sbs_direction(mat3(sums.blend[0], sums.blend[1], sums.blend[2]) * normal);""",
    "optimized centers": f"moved = sbs_about_own_center(sums, position, center.xyz, 1.0); {TURNED}",
    "optimized centers and an amount": """
        moved = sbs_about_own_center(sums, position, center.xyz, center.w);
        turned = sbs_normal(sums, normal, center.w);""",
    "centers of joint sets": f"moved = sbs_about_center(sums, position, texel(uint(joint_set)).xyz, 1.0); {TURNED}",
    "weighted centers": FIND + TURNED,
}
# Functions are put in place first, so that -O sees one.
PASSES = ["--inline-entry-points-exhaustive", "--eliminate-dead-branches", "--ssa-rewrite", "--ccp", "--loop-unroll"]
PASSES += ["--scalar-replacement=100", "--private-to-local", "-O", "--loop-unroll", "-O"]

ONE_EACH = {"OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFNegate", "OpVectorTimesScalar", "OpMatrixTimesScalar"}
EXTENDED = {"Normalize": (6, 3), "Length": (6, 0), "Cross": (9, 0), "FMix": (0, 4), "Fma": (0, 2)}
"""Operations of instructions beyond SPIR-V's own: for all of it, and for each number."""


def operations(text: str) -> tuple[int, int]:
    """Scalar operations on numbers in SPIR-V as text, and texels that are read.

    Comparisons, choices and roots are not counted.
    """
    shapes: dict[str, tuple[int, int]] = {}  # of types: rows and columns
    types: dict[str, str] = {}
    numbers = texels = 0
    for name, made, first, rest in re.findall(r"^\s*(%\w+) = (Op\w+) (%?\w+) ?(.*)$", text, re.MULTILINE):
        others = rest.split()
        if made == "OpTypeVector":
            shapes[name] = (int(others[0]), 1)
        elif made == "OpTypeMatrix":
            shapes[name] = (shapes[first][0], int(others[0]))
        types[name] = first
        rows, columns = shapes.get(first, (1, 1))
        arguments = [shapes.get(types.get(each, ""), (1, 1)) for each in others[:2]]
        if made in ONE_EACH:
            numbers += rows * columns
        elif made == "OpVectorTimesMatrix":
            numbers += rows * (2 * arguments[1][0] - 1)
        elif made == "OpDot":
            numbers += 2 * arguments[0][0] - 1
        elif made in ("OpMatrixTimesVector", "OpMatrixTimesMatrix"):
            numbers += rows * columns * (2 * arguments[0][1] - 1)
        elif made == "OpExtInst":
            whole, each = EXTENDED.get(others[1], (0, 0))
            numbers += whole + each * rows
        texels += made == "OpImageFetch"
    return numbers, texels


def count(body: str) -> tuple[int, int]:
    """The operations and the texels of a shader whose main function ends with this."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "a.vert"), Path(folder, "a.spv")
        source.write_text(HEAD + SOURCE.read_text(encoding="utf-8") + MAIN + body + "\n}\n", encoding="utf-8")
        subprocess.run(["glslangValidator", "-V", source, "-o", made], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["spirv-opt", *PASSES, made, "-o", made], check=True)
        shown = subprocess.run(["spirv-dis", "--raw-id", made], check=True, capture_output=True, text=True)
    return operations(shown.stdout)


def count_all() -> bool:
    """Print the operations of each method; returns whether none needs more than it may."""
    counts = {name: count(body) for name, body in METHODS.items()}
    base = counts["linear blending"][0]
    rows = [[name, f"{found}", f"{found / base:.2f}", f"{texels}"] for name, (found, texels) in counts.items()]
    print_table(["", "operations", "over LBS", "texels"], rows)
    over = [name for name, most in MOST.items() if counts[name][0] > most]
    for name in over:
        print(f"{name}: {counts[name][0]} operations, at most {MOST[name]} were expected", file=sys.stderr)
    return not over
