#!/usr/bin/env python3
"""Writes the Python wheel: the package under Python/, with the C library and the program in it.

    dev/package/wheel.py LIBRARY PROGRAM CALLS NOTICES FOLDER      prints the wheel's path

LIBRARY, PROGRAM and CALLS are stripped. NOTICES is the folder that dev/package/notices.py wrote. CALLS is what dev/package/calls.sh compiles. A Python that cannot load it does without, so the wheel is for every one.

The same files give the same bytes: names are sorted and times are those of $SOURCE_DATE_EPOCH, or 1980.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Python"

METADATA = """\
Metadata-Version: 2.4
Name: kelvin
Version: {version}
Summary: Runs Core ML and ONNX models on Linux, and shows which device runs which layer, and why
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY-NOTICES.txt
Requires-Python: >=3.9
Requires-Dist: numpy>=1.23
Provides-Extra: coremltools
Requires-Dist: coremltools>=8.0; extra == "coremltools"
Provides-Extra: images
Requires-Dist: pillow>=9.0; extra == "images"
Provides-Extra: onnx
Requires-Dist: onnx>=1.16; extra == "onnx"
Provides-Extra: pictures
Requires-Dist: pillow>=9.0; extra == "pictures"
Provides-Extra: ray
Requires-Dist: ray[data,serve]>=2.10; extra == "ray"
Description-Content-Type: text/markdown

"""


def version():
    text = (ROOT / "Sources/KelvinFeatures/Version.swift").read_text()
    return re.search(r'kelvinVersion = "([^"]+)"', text).group(1)


def platform_tag(libraries):
    """Returns the manylinux tag for the newest glibc symbol of the libraries."""
    symbols = subprocess.run(["objdump", "-T", *libraries], check=True, capture_output=True, text=True).stdout
    newest = max((tuple(map(int, match)) for match in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)), default=(2, 17))
    machine = subprocess.run(["uname", "-m"], check=True, capture_output=True, text=True).stdout.strip()
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def contents(library, program, calls, notices, tag, number):
    """Path in the wheel and bytes of each file, RECORD left out."""
    files = {}
    for path in SOURCES.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix in (".py", ".pyi", ".pth", ".typed"):
            files[str(path.relative_to(SOURCES))] = path.read_bytes()
    files["kelvin/libkelvin.so.0"] = pathlib.Path(library).read_bytes()
    files["kelvin/bin/kelvin"] = pathlib.Path(program).read_bytes()
    files["kelvin/_calls.abi3.so"] = pathlib.Path(calls).read_bytes()
    info = f"kelvin-{number}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(version=number).encode() + (ROOT / "Python/README.md").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: kelvin\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/licenses/THIRD-PARTY-NOTICES.txt"] = (notices / "THIRD-PARTY-NOTICES.txt").read_bytes()
    files[f"{info}/sboms/kelvin.cdx.json"] = (notices / "kelvin.cdx.json").read_bytes()
    return files, info


def write(library, program, calls, notices, folder):
    number = version()
    tag = f"py3-none-{platform_tag([library, calls])}"
    files, info = contents(library, program, calls, pathlib.Path(notices), tag, number)
    record = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(files[name])}\n")
    files[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode()
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    path = pathlib.Path(folder) / f"kelvin-{number}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/bin/" in name else 0o100644) << 16
            wheel.writestr(entry, files[name])
    return path


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    print(write(*sys.argv[1:]))
