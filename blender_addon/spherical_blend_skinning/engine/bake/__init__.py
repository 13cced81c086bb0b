# SPDX-License-Identifier: GPL-3.0-or-later
"""Substitutes for the live engine: baked frames, nodes alone, shape keys and Armature modifiers."""
