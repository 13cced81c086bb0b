# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking, while the artist watches."""
