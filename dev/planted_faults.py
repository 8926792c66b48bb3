"""Proves that the checks see what they forbid: each rule is given the project with a fault planted in it, in memory, and
must name the place; without the fault it must have nothing to say."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import source_rules as rules

ROOT = pathlib.Path(__file__).parent.parent
GRAPH = "Sources/KelvinGraph/Planted.swift"
TESTS = "Tests/KelvinPlanningTests/Planted.swift"
# Every way to spell an import that a module must not have.
SPELLINGS = [
    "import {}", "internal import {}", "package import {}", "public import {}", "private import {}",
    "fileprivate import {}", "@testable import {}", "@_exported public import {}", "@preconcurrency internal import {}",
    "@_spi(Inner) import {}", "@preconcurrency @_exported\npublic import {}", "import struct {}.Planted",
    "internal import func {}.planted", "  import {}", "import Glibc; import {}", "public  import\t{}",
]


def with_needs(manifest, name, change):
    """The manifest with other dependencies of one target."""
    manifest = copy.deepcopy(manifest)
    target = next(target for target in manifest["targets"] if target["name"] == name)
    target["dependencies"] = change(target["dependencies"])
    return manifest


def also(name):
    return lambda needs: needs + [{"byName": [name, None]}]


def faults(tree):
    """Rule, what is planted, what the complaint must begin with."""
    manifest = tree.manifest
    yield rules.file_sizes, {"files": {GRAPH: "\n" * 501}}, f"{GRAPH}: 501 lines"
    yield rules.file_sizes, {"files": {"dev/planted.sh": "\n" * 501}}, "dev/planted.sh: 501 lines"
    for spelling in SPELLINGS:
        text = spelling.format("Foundation")
        yield rules.foundation, {"files": {GRAPH: text}}, f"{GRAPH}:{text.count(chr(10)) + 1}: imports Foundation"
        for path, module in [(GRAPH, "KelvinCPU"), (GRAPH, "Testing"), (TESTS, "KelvinCPU"), (TESTS, "Unheard")]:
            text = spelling.format(module)
            yield (
                rules.declared_imports, {"files": {path: text}},
                f"{path}:{text.count(chr(10)) + 1}: imports {module}, which")
    yield (
        rules.imported_declarations, {"manifest": with_needs(manifest, "KelvinPasses", also("CKelvinDrivers"))},
        "Package.swift: KelvinPasses declares CKelvinDrivers")
    yield (
        rules.rows_of_the_manifest, {"manifest": with_needs(manifest, "KelvinGraph", also("KelvinCPU"))},
        "Package.swift: KelvinGraph needs KelvinCPU")
    for name, need in [("KelvinVulkan", "KelvinCPU"), ("KelvinPasses", "KelvinFormats")]:
        yield (
            rules.rows_of_the_design, {"manifest": with_needs(manifest, name, also(need))},
            f"{rules.DESIGN}: {name} needs {need}")
    for decoder in ["JSONDecoder()", "decoder"]:
        yield (
            rules.documents_are_read_in_one_place,
            {"files": {GRAPH: f"let a = try {decoder}.decode([Int].self, from: data)"}}, f"{GRAPH}:1: reads JSON")
    unwrapped = "Sources/KelvinFormats/ONNX/Planted.swift"
    yield rules.folders_of_traits, {"files": {unwrapped: "let planted = 1\n"}}, f"{unwrapped}: is not wrapped in #if ONNX"
    yield (
        rules.folders_of_traits, {"manifest": manifest | {"traits": [{"name": "Planted"}]}},
        f"{rules.DESIGN}: the table of what may be left out has no row for Planted")
    yield (
        rules.rows_of_the_design, {"files": {rules.DESIGN: tree.text(rules.DESIGN).replace("`KelvinImages`", "")}},
        f"{rules.DESIGN}: the table of rooms has no row for KelvinImages")
    yield (
        rules.planning_knows_only_values, {"manifest": with_needs(manifest, "KelvinPlanning", also("KelvinGraph"))},
        "Package.swift: KelvinPlanning")
    yield (
        rules.conformance_is_for_tests, {"manifest": with_needs(manifest, "KelvinRuntime", also("KelvinConformance"))},
        "Package.swift: KelvinRuntime is a library")
    yield (
        rules.the_command_line_is_a_client, {"manifest": with_needs(manifest, "KelvinCommands", also("KelvinEngine"))},
        "Package.swift: the command line declares KelvinEngine")
    rooms = ["KelvinGraph/Operators", "KelvinCPU/Kernels", "KelvinGPU/Kernels"]
    for path in [f"Sources/{room}/Softmax.swift" for room in rooms]:
        yield rules.operators_lie_in_files_of_their_names, {"files": {path: ""}}, f"{path}: does not hold"
    path = "Sources/KelvinVulkan/Kernels/Copying.swift"
    yield rules.operators_lie_in_files_of_their_names, {"files": {path: ""}}, f"{path}: Copying is not an operator"
    for path in ["Package.resolved", ".build-thread/x.o", "bench/__pycache__/peers.pyc"]:
        yield rules.build_products, {"files": {path: ""}}, f"{path}: made by a build"
    for text in ['fopen("/proc/self/statm", "r")', "getrusage(who, &usage)", '"/proc/self/fd"', "mallinfo2()"]:
        yield rules.measured_processes, {"files": {TESTS: text}}, f"{TESTS}:1: measures a process"


def allowed(tree):
    """What looks like a fault and is none."""
    for text in ["// import KelvinCPU", '"""\nimport KelvinCPU\n"""', "/* \nimport KelvinCPU\n*/", "let x = important"]:
        yield rules.declared_imports, {"files": {GRAPH: text}}, text
    yield rules.file_sizes, {"files": {GRAPH: "\n" * 500}}, "500 lines"


def undocumented_symbols():
    """dev/undocumented.py on a public symbol with and without documentation."""
    symbol = {
        "identifier": {"precise": "s:planted"}, "pathComponents": ["Planted"],
        "location": {"uri": "file:///x/Sources/Kelvin/Planted.swift", "position": {"line": 0}},
    }
    for extra, status in [({}, 1), ({"docComment": {"lines": []}}, 0)]:
        with tempfile.NamedTemporaryFile("w", suffix=".symbols.json") as file:
            json.dump({"symbols": [symbol | extra], "relationships": []}, file)
            file.flush()
            got = subprocess.run(
                [sys.executable, ROOT / "dev/undocumented.py", file.name], capture_output=True, check=False).returncode
        if got != status:
            yield f"undocumented.py ends with {got} where a public symbol has {'a' if extra else 'no'} comment"


def main():
    tree = rules.Tree(ROOT)
    failures = list(undocumented_symbols())
    usual = {rule: set(rule(tree)) for rule in rules.RULES}
    proved = set()
    for rule, change, expected in faults(tree):
        found = set(rule(tree.planted(**change))) - usual[rule]
        if any(complaint.startswith(expected) for complaint in found):
            proved.add(rule)
        else:
            failures.append(f"{rule.__name__} does not see: {expected}")
    for rule, change, text in allowed(tree):
        if set(rule(tree.planted(**change))) - usual[rule]:
            failures.append(f"{rule.__name__} complains about: {text}")
    failures += [f"no fault is planted for {rule.__name__}" for rule in rules.RULES if rule not in proved]
    for failure in failures:
        print(f"check: {failure}", file=sys.stderr)
    if not failures:
        print(f"check: {len(proved)} rules see what they forbid")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
