# SPDX-License-Identifier: MIT
"""Skeletons, animations and meshes: the parts of characters, which files hold."""
