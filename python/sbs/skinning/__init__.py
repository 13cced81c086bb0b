# SPDX-License-Identifier: MIT
"""Skins, which bind a mesh to joints, deform it, and differentiate the deformation."""
