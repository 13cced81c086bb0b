# SPDX-License-Identifier: MIT
"""The shaders: one source, and its translations."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

sys.path.insert(0, str(ROOT / "tools"))
import shaders  # noqa: E402  # from tools


def test_files_are_written_anew() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "shaders.py"), "--check"], check=True)


def test_is_hlsl_by_five_names() -> None:
    """No other types, no words that HLSL keeps for itself, and no vectors of one number alone."""
    code = shaders.without_comments(shaders.SOURCE.read_text(encoding="utf-8"))
    words = set(re.findall(r"[A-Za-z]\w*", code))
    assert words & set(shaders.TYPES) == {"float", "vec3", "vec4", "mat3", "mat4x3"}
    assert not words & {"half", "line", "linear", "matrix", "pass", "point", "register", "sample", "shared", "vector"}
    assert re.search(r"\b(vec|mat)\w*\([^,()]*\)", code) is None


GLSL = """#version 330
in vec3 position;
uniform mat4x3 joint;
uniform vec4 quaternion;
"""
HLSL = """#define vec3 float3
#define vec4 float4
#define mat3 float3x3
#define mat4x3 float4x3
#define inversesqrt rsqrt
cbuffer Pose { float4x3 joint; float4 quaternion; float3 position; };
"""
BODY = """
  SbsSums sums = sbs_add(sbs_begin(0.6, joint, quaternion), 0.4, joint, quaternion);
  SbsCenter found = sbs_begin_center(sums, position, 0.6, joint);
  found = sbs_add_center(found, sums, position, 0.4, joint, quaternion);
  vec3 moved = sbs_about_weighted_center(found, 1.0) + sbs_about_center(sums, position, position, 1.0);
  moved += sbs_about_own_center(sums, position, position, 1.0) + sbs_normal(sums, position, 0.5);
"""


@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="Debian: glslang-tools")
@pytest.mark.parametrize("language", ["GLSL", "HLSL"])
def test_compiles(language: str, tmp_path: Path) -> None:
    code = shaders.SOURCE.read_text(encoding="utf-8")
    options: list[str] = []
    if language == "GLSL":
        text = f"{GLSL}{code}void main() {{{BODY}gl_Position = vec4(moved, 1.0);}}"
    else:
        text = f"{HLSL}{code}float4 main() : SV_Position {{{BODY}return float4(moved, 1.0);}}"
        options = ["-D", "-e", "main", "-V", "-o", str(tmp_path / "made")]
    source = tmp_path / "source.vert"
    source.write_text(text, encoding="utf-8")
    found = subprocess.run(["glslangValidator", *options, source], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
