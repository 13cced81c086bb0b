# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of other programs with the skins of bound characters."""
