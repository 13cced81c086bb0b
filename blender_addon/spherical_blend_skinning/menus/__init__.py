# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries in Blender's own menus, menus of our own, and their keys."""
