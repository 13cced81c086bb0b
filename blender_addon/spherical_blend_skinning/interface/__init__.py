# SPDX-License-Identifier: GPL-3.0-or-later
"""What features share: what is selected, meshes with their rigs, words, handles, keys and lines over the view."""
