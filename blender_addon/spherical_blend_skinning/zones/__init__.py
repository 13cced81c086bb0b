# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones of bones blending: where along its bone a joint bends, shown and edited in the viewport."""
