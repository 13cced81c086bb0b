# SPDX-License-Identifier: MIT
"""The figure and the table that compare the methods on real characters."""
