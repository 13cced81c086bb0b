# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights for all bones at once, made as meshes are bound or later."""
