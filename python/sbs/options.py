# SPDX-License-Identifier: MIT
"""The types of the options of deformation."""

from .skinning.options import *  # noqa: F403
from .skinning.options import __all__ as __all__
