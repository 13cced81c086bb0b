# SPDX-License-Identifier: GPL-3.0-or-later
"""How meshes are deformed: presets, the single settings, and one method for all meshes of a character."""
