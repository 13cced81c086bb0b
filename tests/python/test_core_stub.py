# SPDX-License-Identifier: MIT
"""The words of options in types are those that the extension takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from typing import get_args

import numpy as np
import pytest

from sbs import _core, options
from sbs.weights import brush, capsules, subdivision

POINTS, FACES, ONE, ALL = np.eye(3), np.array([[0, 1, 2]]), np.zeros((3, 1), int), np.ones((3, 1))
CAPSULES = np.zeros((1, 3)), np.ones((1, 3)), np.ones((1, 2)), np.ones((1, 2)), None, None, None
SKIN, BRUSH = _core.Skin(POINTS, ONE, ALL), _core.Brush(POINTS, FACES, ONE, ALL)
CALLS: dict[str, Callable[..., object]] = {
    "deform": partial(SKIN.deform, np.eye(4)[None], amount=np.full(3, 0.5)),
    "stroke": partial(BRUSH.stroke, POINTS, 0, radius=1),
    "capsule_weights": partial(_core.capsule_weights, POINTS, *CAPSULES),
    "subdivide": partial(_core.subdivide, POINTS, FACES, np.arange(3), np.array([True])),
}


@pytest.mark.parametrize(
    ("call", "option", "words"),
    [
        ("deform", "method", options.MethodName),
        ("deform", "rotation", options.Rotation),
        ("deform", "center", options.Center),
        ("stroke", "mode", brush.Mode),
        ("stroke", "falloff", brush.Falloff),
        ("stroke", "distance", brush.Distance),
        ("stroke", "mirror", brush.Axis),
        ("capsule_weights", "falloff", capsules.Falloff),
        ("capsule_weights", "outside", capsules.Outside),
        ("subdivide", "scheme", subdivision.Scheme),
    ],
)
def test_words(call: str, option: str, words: object) -> None:
    """Those that a type allows are those that an error lists."""
    with pytest.raises(ValueError, match=option) as caught:
        CALLS[call](**{option: "nonsense"})
    (listed,) = re.findall(r"\[.*\]", str(caught.value))
    assert set(ast.literal_eval(listed)) == set(get_args(words))
