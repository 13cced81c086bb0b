# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh: skin that is relaxed in each pose."""
