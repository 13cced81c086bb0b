# SPDX-License-Identifier: MIT
"""The figure and the table that show what the methods do to real characters."""
