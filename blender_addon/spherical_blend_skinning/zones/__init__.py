# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones of bones blending: where along its bone a joint bends, seen and set in the viewport."""
