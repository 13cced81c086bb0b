# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Portable, and back to the live engine."""
