# SPDX-License-Identifier: MIT
"""``python -m sbs`` is the command ``sbs``."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="python -m sbs")
