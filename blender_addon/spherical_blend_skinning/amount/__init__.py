# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of its method a mesh gets, and each of its bones."""
