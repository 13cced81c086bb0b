# SPDX-License-Identifier: GPL-3.0-or-later
"""Capsules: the envelopes of Blender's bones as an inner and an outer capsule around each."""
