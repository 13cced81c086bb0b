# SPDX-License-Identifier: MIT
"""The measurements and pictures of the pages in docs: ``tools/measure.py`` and ``tools/draw.py`` are their commands."""
