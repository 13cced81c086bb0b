# SPDX-License-Identifier: MIT
"""Skins: what binds a mesh to joints, deforms it, and differentiates that."""
