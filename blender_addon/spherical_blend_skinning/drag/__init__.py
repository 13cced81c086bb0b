# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Vertex: a vertex is taken to where it should be in a pose, and its weights follow."""
