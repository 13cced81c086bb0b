# SPDX-License-Identifier: GPL-3.0-or-later
"""Making weights: what the package sbs has for it, on the vertex groups of Blender."""
