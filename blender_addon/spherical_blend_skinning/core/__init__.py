# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that do not need Blender: computations on arrays."""
