# SPDX-License-Identifier: MIT
"""Print where the wheel scipy-openblas32 has its headers, libraries and licence, and its version, for csrc/base.

The wheel is found and not imported: in a cross build it is that of another machine.
"""

from importlib.metadata import distribution
from pathlib import Path

wheel = distribution("scipy-openblas32")
files = wheel.files or []
libraries = [file for file in files if file.match("lib/lib*") and not file.match("*.lib")]
libraries.sort(key=lambda file: not file.name.startswith("libscipy_openblas"))
licences = [file for file in files if file.match("*.dist-info/**/LICENSE*")]
for folder in ("include", "lib"):
    print(Path(str(wheel.locate_file("scipy_openblas32/" + folder))).as_posix())
print(*(Path(file.locate()).as_posix() for file in licences))
print(wheel.version)
print(*(Path(file.locate()).as_posix() for file in libraries), sep=";")
