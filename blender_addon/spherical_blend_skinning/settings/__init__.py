# SPDX-License-Identifier: GPL-3.0-or-later
"""What files and preferences keep, for objects, rigs and bones, and what can be chosen."""
