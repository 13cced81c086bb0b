# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of a rig."""
