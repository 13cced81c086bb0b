# SPDX-License-Identifier: MIT
"""Characters for engines that know linear blending alone: weights and helper joints fitted to another method."""

from .weights.linear import *  # noqa: F403
from .weights.linear import __all__ as __all__
