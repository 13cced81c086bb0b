# SPDX-License-Identifier: GPL-3.0-or-later
"""Choices, as items of Blender's enumerations."""

from __future__ import annotations

METHODS = (
    ("SPHERICAL", "Spherical Blend", "Rotations are blended about pivots: joints neither collapse nor bulge"),
    ("DUAL_QUATERNION", "Dual Quaternion", "As the Armature modifier with Preserve Volume"),
    ("LINEAR", "Linear", "As the Armature modifier"),
    ("RIGID", "Rigid", "Each vertex follows only its heaviest bone"),
    (
        "BONES_BLENDING",
        "Bones Blending",
        "For joints with a wide range of motion: each vertex belongs to one bone, and turns with it the more, the "
        "further along the bone it is. Weights only say to which bone it belongs",
    ),
)

BLENDED_BONES = (
    ("ALL", "All", "All bones that deform; a bone without a parent moves its vertices rigidly"),
    ("MARKED", "Marked", "Marked bones; the others move their vertices linearly by weights"),
)

BONES_PROFILES = (
    ("LINEAR", "Linear", "Evenly from where the bend begins to where it ends"),
    ("SMOOTHSTEP", "Smoothstep", "Level at both ends, and steeper in the middle: longer bends suit it"),
)

ROTATIONS = (
    ("QLERP", "Linear", "Quaternions are blended linearly and normalized: fast, and close to the average"),
    ("AVERAGE", "Average", "The spherical average, at even speed between two bones; slower"),
)

CENTERS = (
    ("JOINT_SET", "By Bones", "One for all vertices of the same bones: the point that these move most alike"),
    ("WEIGHTED", "By Weights", "One for each vertex by its weights: smooth where the bones of neighbors differ"),
    ("OPTIMIZED", "Best", "One for each vertex, found after binding and after edits: limbs keep their shape best"),
)

TWIST_PROFILES = (
    ("LINEAR", "Linear", "Evenly from head to tail"),
    ("SMOOTH", "Smooth", "It begins and ends gently, and is stronger in the middle of the bone"),
)

CAPSULE_FALLOFFS = (
    ("LINEAR", "Linear", "Evenly from the inner capsule to the outer one"),
    ("SMOOTH", "Smooth", "Level at both capsules"),
    ("QUADRATIC", "Quadratic", "Fast at the inner capsule, level at the outer one"),
)
CAPSULE_OUTSIDES = (
    ("NEAREST", "To Nearest Bone", "A vertex outside of all outer capsules follows the bone of the nearest one"),
    (
        "UNWEIGHTED",
        "Keep Weights",
        "A vertex outside of all outer capsules keeps the weights of other bones, if it has any",
    ),
)

#: For bones that have no fall-off of their own.
AS_OTHERS = "AS_OTHERS"
