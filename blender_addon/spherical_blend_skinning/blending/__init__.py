# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing the bones for bones blending."""
