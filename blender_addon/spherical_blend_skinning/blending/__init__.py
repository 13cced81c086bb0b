# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones blending: which bones, and in which zones, shown and edited in the viewport."""
