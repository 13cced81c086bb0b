# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives: shape keys that bones drive."""
