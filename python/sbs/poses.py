# SPDX-License-Identifier: MIT
"""Poses in which one joint is turned, and the vertices that such a joint moves."""

from .characters.poses import *  # noqa: F403
from .characters.poses import __all__ as __all__
