# SPDX-License-Identifier: GPL-3.0-or-later
"""Binding meshes to armatures and unbinding them, and the panels of bound meshes."""
