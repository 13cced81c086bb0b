# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that demonstrates the add-on."""
