# SPDX-License-Identifier: GPL-3.0-or-later
"""Binding meshes to armatures, and back; and what is shown of meshes that are bound."""
