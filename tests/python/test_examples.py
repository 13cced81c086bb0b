# SPDX-License-Identifier: MIT
"""The examples of the docstrings do what they say."""

import doctest
from importlib import import_module

import pytest

MODULES = [
    "sbs.animation",
    "sbs.character",
    "sbs.limbs",
    "sbs.rotations",
    "sbs.samples",
    "sbs.skeleton",
    "sbs.skin",
    "sbs.weights.bones",
    "sbs.weights.capsule_fit",
    "sbs.weights.capsules",
    "sbs.weights.influences",
    "sbs.weights.mirror",
    "sbs.weights.tools",
    "sbs.weights.transfer",
]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str) -> None:
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0
    assert results.failed == 0
