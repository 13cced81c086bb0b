# SPDX-License-Identifier: MIT
"""Skeletons, animations and meshes: what files hold, and what a character is made of."""
