# SPDX-License-Identifier: MIT
"""The examples of the docstrings do what they say."""

import doctest
from importlib import import_module

import numpy as np
import pytest

MODULES = """
characters.character characters.limbs rigging.animation rigging.skeleton rotations samples skinning.skin
weights.bones weights.capsule_fit weights.capsules weights.fit weights.influences weights.mirror weights.reachable
weights.tools weights.transfer
"""


@pytest.mark.applies(np.lib.NumpyVersion(np.__version__) >= "2.0.0", reason="NumPy 1 writes numbers in another way")
@pytest.mark.parametrize("module", MODULES.split())
def test_examples(module: str) -> None:
    results = doctest.testmod(import_module(f"sbs.{module}"))
    assert results.attempted > 0
    assert results.failed == 0
