# SPDX-License-Identifier: MIT
"""Put together a CPython 3.11 for 64-bit Windows, from packages of PyPI: ``windows_python.py FOLDER PACKAGE...``.

The wheel of panda3d for Windows brings Python's DLL and extension modules, to go along with games. The modules written
in Python are those of the Python 3.11 that runs this. Zig compiles the missing files: python.exe, and python3.dll,
which hands the limited API on. The packages that are named, each as pip takes it, are installed for it.
"""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import lief

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import cross_build

CARRIER = "panda3d==1.10.16"
PROGRAM = """
#include <wchar.h>
__declspec(dllimport) int Py_Main(int argc, wchar_t **argv);
int wmain(int argc, wchar_t **argv) { return Py_Main(argc, argv); }
"""
LIBRARY = "int DllMainCRTStartup(void *a, int b, void *c) { (void)a; (void)b; (void)c; return 1; }\n"
ZIG = (sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-O2")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
FOR_WINDOWS = ("--only-binary=:all:", "--platform=win_amd64", "--python-version=3.11", "--implementation=cp")


def unpack_python(folder: Path) -> None:
    """Python's DLL, its extension modules with what they need, and its modules."""
    with tempfile.TemporaryDirectory() as downloads:
        subprocess.run([*PIP, "download", "--quiet", "--no-deps", *FOR_WINDOWS, "-d", downloads, CARRIER], check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                place, _, file = name.rpartition("/")
                if place != "deploy_libs" or file.startswith("api-ms-win"):
                    continue
                own = file in ("python311.dll", "VCRUNTIME140.dll")
                (folder / file if own else folder / "DLLs" / file).write_bytes(archive.read(name))
    ignored = shutil.ignore_patterns("__pycache__", "site-packages", "test", "tests", "lib-dynload", "config-*")
    shutil.copytree(sysconfig.get_path("stdlib"), folder / "Lib", ignore=ignored)
    # The DLL is of 3.11.9, which calls a function of the class that is one of its objects in modules up to 3.11.8.
    metadata = folder / "Lib" / "importlib" / "metadata" / "__init__.py"
    function = "    def invalidate_caches(cls)"
    text = metadata.read_text(encoding="utf-8")
    if f"@classmethod\n{function}" not in text:
        metadata.write_text(text.replace(function, f"    @classmethod\n{function}"), encoding="utf-8")


def compile_rest(folder: Path) -> None:
    """python.exe and python3.dll."""
    _, python = cross_build.prepare("windows-x64")
    dll = lief.parse(str(folder / "python311.dll"))
    assert isinstance(dll, lief.PE.Binary)
    names = {entry.name for entry in dll.get_export().entries} & set((python / "python3.def").read_text().split())
    with tempfile.TemporaryDirectory() as sources:
        program, library, exports = (Path(sources, name) for name in ("python.c", "python3.c", "python3.def"))
        program.write_text(PROGRAM)
        library.write_text(LIBRARY)
        exports.write_text("LIBRARY python3.dll\nEXPORTS\n" + "".join(f"{name}=python311.{name}\n" for name in names))
        subprocess.run([*ZIG, "-municode", "-o", folder / "python.exe", program, folder / "python311.dll"], check=True)
        subprocess.run([*ZIG, "-shared", "-nostdlib", "-o", folder / "python3.dll", library, exports], check=True)


def main() -> None:
    folder, *packages = sys.argv[1:]
    Path(folder, "DLLs").mkdir(parents=True)
    unpack_python(Path(folder))
    compile_rest(Path(folder))
    subprocess.run(
        [*PIP, "install", "--quiet", *FOR_WINDOWS, f"--target={folder}/Lib/site-packages", *packages], check=True
    )


if __name__ == "__main__":
    main()
