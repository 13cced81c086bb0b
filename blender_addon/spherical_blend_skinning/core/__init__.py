# SPDX-License-Identifier: GPL-3.0-or-later
"""What needs no Blender: numbers in, numbers out."""
