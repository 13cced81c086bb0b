# SPDX-License-Identifier: MIT
"""Benchmarks of the library against itself, its bound, and other libraries. README.md tells how to run them."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The tests have the characters and their reader.
sys.path.append(str(ROOT / "tests" / "python"))
