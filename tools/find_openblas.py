# SPDX-License-Identifier: MIT
"""Print where the wheel scipy-openblas32 has its headers, libraries and licence, and its version, for csrc/base.

The wheel is found and not imported: in a cross build it is that of another machine.
"""

from importlib.metadata import distribution

wheel = distribution("scipy-openblas32")
files = wheel.files or []
libraries = [file for file in files if file.match("lib/lib*") and not file.match("*.lib")]
libraries.sort(key=lambda file: not file.name.startswith("libscipy_openblas"))
for folder in ("include", "lib"):
    print(wheel.locate_file("scipy_openblas32/" + folder).as_posix())
print(*(file.locate().as_posix() for file in files if file.match("*.dist-info/**/LICENSE*")))
print(wheel.version)
print(*(file.locate().as_posix() for file in libraries), sep=";")
