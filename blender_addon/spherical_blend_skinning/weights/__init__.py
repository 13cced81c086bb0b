# SPDX-License-Identifier: GPL-3.0-or-later
"""The weight tools of the package sbs, applied to the vertex groups of Blender."""
