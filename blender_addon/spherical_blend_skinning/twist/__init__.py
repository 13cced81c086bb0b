# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists that are spread along limbs: finding these, and choosing among them."""
