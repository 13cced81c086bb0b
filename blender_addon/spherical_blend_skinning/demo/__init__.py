# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that shows what the add-on is for."""
