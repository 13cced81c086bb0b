# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors inside of Blender are raised outside."""

from __future__ import annotations

import pytest
from session import Session


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("bpy.data.objects['No such object']", "KeyError"),
        ("if", "SyntaxError"),
        ("result = bpy.context", "TypeError: .* is not JSON serializable"),
    ],
)
def test_errors_are_raised_outside(blender: Session, code: str, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        blender.run(code)
    assert blender.get("1 + 1") == 2
