# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of what is bound, in the sidebar of the 3D view and by the modifiers: a file for each subject."""
