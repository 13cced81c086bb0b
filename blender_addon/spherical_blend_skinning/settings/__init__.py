# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of objects, rigs and bones in files, the preferences, and their choices."""
