# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine, and what it knows of bound objects."""
