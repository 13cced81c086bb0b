# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests in a Blender program, which has no pytest of its own; PYTHONPATH names a folder that has it.

PYTHONPATH=... blender -b --python-use-system-env --python tests/blender/run_in_blender.py -- [options] [tests]

Or with the bpy module of a Python, where the exit must not wait for what Blender leaves running:

python tests/blender/run_in_blender.py -- [options] [tests]
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
tests = [argument for argument in arguments if Path(argument.partition("::")[0]).exists()]
status = pytest.main(arguments if tests else [str(Path(__file__).parent), *arguments])
sys.stdout.flush()
# Not sys.exit, which a Blender program reports as a success, and at which Blender 4.5 as a module can hang: it destroys
# a condition variable (of delayed_close_thread_run) on which its own thread still waits.
os._exit(status)
