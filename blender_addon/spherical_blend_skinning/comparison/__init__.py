# SPDX-License-Identifier: GPL-3.0-or-later
"""What the method makes other than linear blending does: one in the place of the other, and the difference drawn."""
