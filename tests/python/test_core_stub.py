# SPDX-License-Identifier: MIT
"""The words of options in types are those that the extension takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

from sbs import _core, options
from sbs.mesh import subdivision
from sbs.weights import brush, capsules

POINTS, FACES, ONE, ALL = np.eye(3), np.array([[0, 1, 2]]), np.zeros((3, 1), int), np.ones((3, 1))
CAPSULES = np.zeros((1, 3)), np.ones((1, 3)), np.ones((1, 2)), np.ones((1, 2)), None, None, None


def deform(**words: Any) -> object:
    return _core.Skin(POINTS, ONE, ALL).deform(np.eye(4)[None], amount=np.full(3, 0.5), **words)


def stroke(**words: Any) -> object:
    return _core.Brush(POINTS, FACES, ONE, ALL).stroke(POINTS, 0, radius=1, **words)


def weigh(**words: Any) -> object:
    return _core.capsule_weights(POINTS, *CAPSULES, **words)


def subdivide(**words: Any) -> object:
    return _core.subdivide(POINTS, FACES, np.arange(3), np.array([True]), **words)


@pytest.mark.parametrize(
    ("call", "option", "words"),
    [
        (deform, "method", options.MethodName),
        (deform, "rotation", options.Rotation),
        (deform, "center", options.Center),
        (stroke, "mode", brush.Mode),
        (stroke, "falloff", brush.Falloff),
        (stroke, "distance", brush.Distance),
        (stroke, "mirror", brush.Axis),
        (weigh, "falloff", capsules.Falloff),
        (weigh, "outside", capsules.Outside),
        (subdivide, "scheme", subdivision.Scheme),
    ],
)
def test_words(call: Callable[..., object], option: str, words: object) -> None:
    """Those that a type allows are those that an error lists."""
    with pytest.raises(ValueError, match=f"{option} must be one of") as caught:
        call(**{option: "nonsense"})
    (listed,) = re.findall(r"\[.*\]", str(caught.value))
    assert set(ast.literal_eval(listed)) == set(get_args(words))
