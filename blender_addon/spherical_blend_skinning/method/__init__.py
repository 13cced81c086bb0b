# SPDX-License-Identifier: GPL-3.0-or-later
"""How meshes are deformed: presets, the settings that they stand for, and one method for all meshes of a character."""
