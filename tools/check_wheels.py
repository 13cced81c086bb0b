# SPDX-License-Identifier: MIT
"""Check the contents of wheels, whatever machine they are for: ``python tools/check_wheels.py dist``.

A wheel's tag promises a processor and a version of the system. Its extension, the only binary, has to be for that, and
to need nothing but the system. Runs on Linux, with the packages of
tools/cross/requirements.txt.
"""

import argparse
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import lief

PACKAGE = "sbs/"
MOST = 3_000_000  # bytes of a wheel
OWN = "MIT AND CC0-1.0"

# By the platform of the tag: the format of its binaries, the processor as lief calls it, and libraries of every system.
UCRT = r"api-ms-win-crt-[a-z]+-l1-1-0\.dll|ucrtbase\.dll"
LINUX = r"ld-linux-[\w-]+\.so\.\d|lib(c|m|pthread|dl|z|gcc_s)\.so\.\d"
PLATFORMS = {
    "manylinux_2_28_x86_64": (lief.ELF.Binary, "X86_64", LINUX),
    "manylinux_2_28_aarch64": (lief.ELF.Binary, "AARCH64", LINUX),
    "macosx_11_0_x86_64": (lief.MachO.Binary, "X86_64", r"/usr/lib/libSystem\.B\.dylib"),
    "macosx_11_0_arm64": (lief.MachO.Binary, "ARM64", r"/usr/lib/libSystem\.B\.dylib"),
    "win_amd64": (lief.PE.Binary, "AMD64", rf"KERNEL32\.dll|python3\.dll|{UCRT}"),
}
RUN_PATHS = (lief.ELF.DynamicEntryRunPath, lief.ELF.DynamicEntryRpath)
BINARIES = (".so", ".dylib", ".pyd", ".dll")


def faults(wheel: Path) -> Iterator[str]:
    """The faults of a wheel, a line each."""
    *_, python, abi, platform = wheel.stem.split("-")
    if (python, abi) != ("cp311", "abi3"):
        yield f"is for {python}-{abi}, not for cp311-abi3"
    if platform not in PLATFORMS:
        yield f"is for {platform}, not one of {', '.join(PLATFORMS)}"
        return
    if wheel.stat().st_size > MOST:
        yield f"has {wheel.stat().st_size} bytes, more than {MOST}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        binaries = {name: archive.read(name) for name in names if name.endswith(BINARIES) or ".so." in name}
        licences = {PurePosixPath(name).name for name in names if "licenses" in PurePosixPath(name).parts}
        metadata = "".join(archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    for name in {"LICENSE", "THIRD_PARTY.md"} - licences:
        yield f"lacks the licence {name}"
    (told,) = re.findall(r"^License-Expression: (.*)$", metadata, re.MULTILINE) or [""]
    files = set(re.findall(r"^License-File: (.*)$", metadata, re.MULTILINE))
    if told != OWN or files != {"LICENSE", "THIRD_PARTY.md"}:
        yield f"tells other licences: {told!r}, in {sorted(files)}"
    extension = PACKAGE + ("_core.pyd" if platform.startswith("win") else "_core.abi3.so")
    if list(binaries) != [extension]:
        yield f"has the binaries {sorted(binaries)}, not {extension} alone"
    if bytecode := [name for name in names if name.endswith((".pyc", ".a", ".lib", ".pdb"))]:
        yield f"has {bytecode[0]}, which is of no use"
    for name, content in binaries.items():
        for fault in binary_faults(content, platform):
            yield f"{name}: {fault}"
    if platform.startswith("manylinux"):
        yield from policy_faults(wheel, platform)


def binary_faults(content: bytes, platform: str) -> Iterator[str]:
    """The faults of a wheel's extension."""
    kind, processor, allowed = PLATFORMS[platform]
    binary = lief.parse(list(content))
    if not isinstance(binary, kind):
        yield f"is no {kind.__module__.rpartition('.')[2]} file"
        return
    if isinstance(binary, lief.ELF.Binary):
        machine, needed = binary.header.machine_type.name, [str(library) for library in binary.libraries]
        folders = [str(entry) for entry in binary.dynamic_entries if isinstance(entry, RUN_PATHS)]
        exported = {str(symbol.name) for symbol in binary.exported_symbols} - {"_init", "_fini"}
    elif isinstance(binary, lief.MachO.Binary):
        machine = binary.header.cpu_type.name
        # The first names the file itself.
        itself = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        needed = [str(library.name) for library in binary.libraries if library.command != itself]
        folders = [str(command.path) for command in binary.commands if isinstance(command, lief.MachO.RPathCommand)]
        version = next(
            (c for c in binary.commands if isinstance(c, lief.MachO.BuildVersion | lief.MachO.VersionMin)), None
        )
        lowest = getattr(version, "minos", getattr(version, "version", None))
        if lowest is None or lowest[:2] > [11, 0]:
            yield f"is for macOS {lowest}, not for 11.0"
        if machine == "ARM64" and not binary.has_code_signature:
            yield "is not signed, not even by itself"
        exported = {"PyInit__core"}
    else:
        machine, needed, folders = binary.header.machine.name, [str(library.name) for library in binary.imports], []
        exports = binary.get_export()
        exported = {str(entry.name) for entry in exports.entries} if exports else set()
    if machine != processor:
        yield f"is for {machine}, not for {processor}"
    if folders:
        yield f"looks for libraries in folders: {folders}"
    for name in needed:
        if not re.fullmatch(allowed, name, re.IGNORECASE):
            yield f"needs {name}, which not every system has"
    if exported != {"PyInit__core"}:
        yield f"exports {sorted(exported)}, not PyInit__core alone"


def policy_faults(wheel: Path, platform: str) -> Iterator[str]:
    """A line if auditwheel finds that some Linux of the tag lacks something."""
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found = re.search(r'platform tag:\s+"manylinux_(\d+)_(\d+)_(\w+)"', shown)
    if found is None or f"manylinux_2_28_{found[3]}" != platform or (int(found[1]), int(found[2])) > (2, 28):
        yield f"is not for {platform}: {' '.join(shown.split())}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    wheels = sorted(parser.parse_args().folder.glob("*.whl"))
    wrong = 0
    for wheel in wheels:
        found = list(faults(wheel))
        wrong += bool(found)
        print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.1f} MB", *(found or ["is right"]), sep="\n  ", flush=True)
    if not wheels:
        print("no wheels are there")
    return int(bool(wrong) or not wheels)


if __name__ == "__main__":
    sys.exit(main())
