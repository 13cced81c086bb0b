# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine, and its records of bound objects."""
