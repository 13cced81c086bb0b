# SPDX-License-Identifier: GPL-3.0-or-later
"""A pie menu for posing and painting."""
