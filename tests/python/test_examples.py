# SPDX-License-Identifier: MIT
"""The examples of the docstrings do what they say."""

import doctest
from importlib import import_module

import numpy as np
import pytest

MODULES = [
    "sbs.rigging.animation",
    "sbs.characters.character",
    "sbs.characters.limbs",
    "sbs.support.rotations",
    "sbs.characters.samples",
    "sbs.rigging.skeleton",
    "sbs.skinning.skin",
    "sbs.rigging.bones",
    "sbs.weights.capsule_fit",
    "sbs.weights.capsules",
    "sbs.weights.fit",
    "sbs.weights.influences",
    "sbs.weights.mirror",
    "sbs.weights.reachable",
    "sbs.weights.tools",
    "sbs.weights.transfer",
]


@pytest.mark.applies(np.lib.NumpyVersion(np.__version__) >= "2.0.0", reason="NumPy 1 writes numbers in another way")
@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str) -> None:
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0
    assert results.failed == 0
