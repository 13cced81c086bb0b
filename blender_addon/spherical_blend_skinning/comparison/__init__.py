# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the method with linear blending: show the other while a key is held, or draw the difference."""
