#!/usr/bin/env python3
"""Writes the third-party notices and the bill of materials of the packages.

    dev/package/notices.py FOLDER BINARY...     unstripped binaries of the build

FOLDER receives THIRD-PARTY-NOTICES.txt and kelvin.cdx.json (CycloneDX 1.6). The symbols of the binaries show which
components are linked. An archive of Swift's that no component below names is an error, so that no notice is missing.
Equal builds give equal files: the time is $SOURCE_DATE_EPOCH, or 1980.
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENSES = ROOT / "dev/package/licenses"
SWIFT = "Apache-2.0 WITH Swift-exception"


class Component(NamedTuple):
    name: str
    license: str
    address: str
    """The source, without its version."""
    version: "function"
    archives: "frozenset[str]" = frozenset()
    """The static libraries of the Swift toolchain that are parts of it."""
    symbol: str = ""
    """A symbol that shows that it is linked, if it has no archive there."""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@functools.cache
def swift_version():
    return re.search(r"Swift version ([0-9.]+)", run("swiftc", "--version")).group(1)


def parser_version():
    state = json.loads((ROOT / ".build/workspace-state.json").read_text())
    [version] = [
        package["state"]["checkoutState"]["version"]
        for package in state["object"]["dependencies"]
        if package["packageRef"]["identity"] == "swift-argument-parser"
    ]
    return version


def openssl_version():
    return run("dpkg-query", "-W", "-f", "${Version}", "libssl-dev").split("-")[0]


def zlib_version():
    header = pathlib.Path("/usr/include/zlib.h").read_text()
    return re.search(r'#define ZLIB_VERSION "([0-9.]+)', header).group(1)


LINKED = [
    Component(
        "Swift standard library and runtime", SWIFT, "pkg:github/swiftlang/swift", swift_version,
        frozenset((
            "libswiftCore libswift_Concurrency libswiftSynchronization libswiftGlibc libswift_StringProcessing "
            "libswift_RegexParser libswiftSwiftOnoneSupport libswift_Builtin_float libswiftRuntime libswift_Volatile "
            "libswiftObservation").split())),
    Component(
        "Unicode data in the Swift standard library", "Unicode-3.0", "pkg:github/swiftlang/swift", swift_version,
        frozenset({"libswiftCore"})),
    Component(
        "swift-foundation (FoundationEssentials)", SWIFT, "pkg:github/swiftlang/swift-foundation", swift_version,
        frozenset({"libFoundationEssentials", "lib_FoundationCShims"})),
    Component(
        "swift-collections", SWIFT, "pkg:github/apple/swift-collections", swift_version,
        frozenset({"lib_FoundationCollections"})),
    Component(
        "swift-corelibs-libdispatch", SWIFT, "pkg:github/swiftlang/swift-corelibs-libdispatch", swift_version,
        frozenset({"libdispatch", "libswiftDispatch", "libBlocksRuntime"})),
    Component(
        "swift-argument-parser", SWIFT, "pkg:github/apple/swift-argument-parser", parser_version,
        symbol="$s14ArgumentParser15ParsableCommandMp"),
    Component("OpenSSL (libcrypto)", "Apache-2.0", "pkg:github/openssl/openssl", openssl_version, symbol="SHA256_Init"),
    Component("zlib", "Zlib", "pkg:github/madler/zlib", zlib_version, symbol="inflateInit2_"),
]

LOADED = [
    ("OpenBLAS", "BSD-3-Clause", "products of matrices on the CPU"),
    ("libvips", "LGPL-2.1-or-later", "decoding and encoding of image files"),
    ("SQLite", "blessing", "the photo index"),
    ("Zstandard", "BSD-3-Clause", "archives of models"),
    ("Vulkan loader", "Apache-2.0", "the devices vulkan:N"),
    ("OpenCL loader", "BSD-2-Clause", "the devices opencl:N"),
    ("NVML", "LicenseRef-NVIDIA", "temperatures and power of NVIDIA cards"),
]
"""Libraries that Kelvin opens at run time if they are installed, and their use. The packages do not contain them."""


def symbols(path):
    """Names of the functions and data that a binary or an archive defines."""
    lines = (line.split() for line in run("nm", "--defined-only", str(path)).splitlines())
    return {line[-1] for line in lines if len(line) == 3}


def functions(path):
    """Names of the functions that an archive exports."""
    lines = (line.split() for line in run("nm", "--defined-only", str(path)).splitlines())
    return {line[-1] for line in lines if len(line) == 3 and line[1] == "T"}


def toolchain_archives():
    info = json.loads(run("swiftc", "-print-target-info", "-static-stdlib"))
    return sorted(pathlib.Path(info["paths"]["runtimeResourcePath"], "linux").glob("lib*.a"))


def linked_components(binaries):
    defined = set().union(*map(symbols, binaries))
    linked = {path.stem for path in toolchain_archives() if functions(path) & defined}
    known = set().union(*(component.archives for component in LINKED))
    if linked - known:
        sys.exit(f"notices.py: no component of this script names {', '.join(sorted(linked - known))}; add it with its license")
    return [one for one in LINKED if one.archives & linked or one.symbol in defined]


def notices(components):
    out = [
        "Third-party notices",
        "",
        "Kelvin is licensed under the Apache License 2.0. Its program and libraries contain these components:",
        "",
        *(f"  {one.name} {one.version()}: {one.license}" for one in components),
        "",
        "Kelvin opens these libraries at run time if they are installed. This package does not contain them, and their own",
        "terms apply:",
        "",
        *(f"  {name}: {license}, for {use}" for name, license, use in LOADED),
    ]
    texts = [("Apache-2.0", ROOT / "LICENSE")]
    texts += [(path.stem, path) for path in sorted(LICENSES.glob("*.txt"))]
    for name, path in texts:
        out += ["", "-" * 80, name, "-" * 80, "", path.read_text().rstrip()]
    return "\n".join(out) + "\n"


def bill_of_materials(components, binaries):
    version = re.search(r'kelvinVersion = "([^"]+)"', (ROOT / "Sources/KelvinFeatures/Version.swift").read_text()).group(1)
    moment = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)
    address = f"pkg:generic/kelvin@{version}"
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in binaries}
    entries = [
        {
            "type": "library",
            "bom-ref": f"{one.address}@{one.version()}#{one.name.replace(' ', '-')}",
            "name": one.name,
            "version": one.version(),
            "licenses": [{"expression": one.license}],
            "purl": f"{one.address}@{one.version()}",
            "scope": "required",
        }
        for one in components
    ]
    entries += [
        {
            "type": "library",
            "bom-ref": name.replace(" ", "-"),
            "name": name,
            "description": f"Loaded at run time for {use}; not part of the package.",
            "licenses": [{"license": {"name": license}} if license.startswith("LicenseRef") else {"license": {"id": license}}],
            "scope": "optional",
        }
        for name, license, use in LOADED
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, address + json.dumps(digests))}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)),
            "component": {
                "type": "application",
                "bom-ref": address,
                "name": "kelvin",
                "version": version,
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": address,
            },
        },
        "components": entries,
        "dependencies": [
            {"ref": address, "dependsOn": [entry["bom-ref"] for entry in entries]},
            *({"ref": entry["bom-ref"]} for entry in entries),
        ],
    }


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, *binaries = map(pathlib.Path, sys.argv[1:])
    components = linked_components(binaries)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "THIRD-PARTY-NOTICES.txt").write_text(notices(components))
    bill = json.dumps(bill_of_materials(components, binaries), indent=2, ensure_ascii=False)
    (folder / "kelvin.cdx.json").write_text(bill + "\n")
