# SPDX-License-Identifier: MIT
"""The shaders: one source, and what is translated of it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

sys.path.insert(0, str(ROOT / "tools"))
import shaders  # noqa: E402  # from tools


def test_files_are_written_anew() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "shaders.py"), "--check"], check=True)


def test_translates_a_function() -> None:
    glsl = (
        "vec3 sbs_turned(vec4 q, mat3 m) { // both\n  vec3 v = m * q.xyz;\n  v += inversesqrt(q.w) * v;\n  return v;\n}"
    )
    assert list(shaders.translate(glsl)) == [
        "fn sbs_turned(q: vec4f, m: mat3x3f) -> vec3f { // both",
        "  var v: vec3f = m * q.xyz;",
        "  v += inverseSqrt(q.w) * v;",
        "  return v;",
        "}",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "ivec3 v;",
        "float x = y > 0.0 ? y : 0.0;",
        "v.xy = w;",
        "mat3 m = mat3(blend);",
        "vec3 v = reflect(a, b);",
        "for (int i = 0; i < 4; i++) {",
        "float x = 1.0, y = 2.0;",
        "const float x = 1.0;",
    ],
)
def test_refuses_what_it_does_not_know(line: str) -> None:
    with pytest.raises(SystemExit, match=r"spherical\.glsl:2: .* is not translated"):
        list(shaders.translate(f"float f(float y) {{\n  {line}\n}}"))


def test_is_hlsl_by_five_names() -> None:
    """No other types, no words that HLSL keeps for itself, and no vectors of one number alone."""
    code = shaders.without_comments(shaders.SOURCE.read_text(encoding="utf-8"))
    words = set(re.findall(r"[A-Za-z]\w*", code))
    assert words & set(shaders.TYPES) == {"float", "vec3", "vec4", "mat3", "mat4x3"}
    assert not words & {"half", "line", "linear", "matrix", "pass", "point", "register", "sample", "shared", "vector"}
    assert re.search(r"\b(vec|mat)\w*\([^,()]*\)", code) is None
