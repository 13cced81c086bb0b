# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests in a Blender program, which has no pytest of its own; PYTHONPATH names a folder that has it.

PYTHONPATH=... blender --background --python-use-system-env --python tests/blender/run_in_blender.py -- [options]
"""

import os
import sys
from pathlib import Path

# Blender's own Python, where it is the system's, finds packages of PYTHONPATH only if it is told to.
for folder in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
    if folder not in sys.path:
        sys.path.append(folder)

import pytest  # noqa: E402

arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
status = pytest.main([str(Path(__file__).parent), *arguments])
sys.stdout.flush()
# Not sys.exit, which Blender reports as a success.
os._exit(status)
