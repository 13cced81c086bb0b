# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of bound characters with their skins."""
