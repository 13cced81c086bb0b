# SPDX-License-Identifier: MIT
"""Characters that come with the package, to try things on.

``"woman"`` is MakeHuman's, of 13,380 vertices and 31 joints, without animations (CC0). ``"hand"`` is from the WebXR
Input Profiles, of 1,360 vertices and 25 joints, with the animation ``"fist"`` (MIT).
"""

from .characters.samples import *  # noqa: F403
from .characters.samples import __all__ as __all__
