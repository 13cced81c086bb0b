# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that features share: selection, meshes with their rigs, text, handles, keys and lines over the view."""
