# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes the live engine's place: baked frames, nodes alone, shape keys and Armature modifiers."""
