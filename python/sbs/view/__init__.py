# SPDX-License-Identifier: MIT
"""A character in a page of the browser, by several methods side by side."""

from .window import Window

__all__ = ["Window"]
