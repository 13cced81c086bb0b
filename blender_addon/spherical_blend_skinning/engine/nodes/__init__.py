# SPDX-License-Identifier: GPL-3.0-or-later
"""Node groups: of the live engine, and of the portable one."""
