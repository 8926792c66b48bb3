"""Proves that the checks see what they forbid: each rule is given the project with a fault planted in it, in memory, and
must name the place; without the fault it must have nothing to say."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import prose
import records
import source_rules as rules

RULES = rules.RULES + prose.RULES + records.RULES
ROOT = pathlib.Path(__file__).parent.parent
GRAPH = "Sources/KelvinGraph/Planted.swift"
PAGE = "docs/design/planted.md"
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
        rules.imported_declarations, {"manifest": with_needs(manifest, "KelvinPasses", also("CKelvinSupport"))},
        "Package.swift: KelvinPasses declares CKelvinSupport")
    yield (
        rules.rows_of_the_manifest, {"manifest": with_needs(manifest, "KelvinGraph", also("KelvinCPU"))},
        "Package.swift: KelvinGraph needs KelvinCPU")
    for name, need in [("KelvinVulkan", "KelvinCPU"), ("KelvinPasses", "KelvinImport")]:
        yield (
            rules.rows_of_the_architecture, {"manifest": with_needs(manifest, name, also(need))},
            f"{rules.ARCHITECTURE}: {name} needs {need}")
    for decoder in ["JSONDecoder()", "decoder"]:
        yield (
            rules.documents_are_read_in_one_place,
            {"files": {GRAPH: f"let a = try {decoder}.decode([Int].self, from: data)"}}, f"{GRAPH}:1: reads JSON")
    planted = "Sources/KelvinText/Planted.swift"
    for use in ["let ids: [String: Int] = [:]", "private var seen: Set<String> = []"]:
        yield (
            rules.values_are_compared_by_their_bytes, {"files": {planted: use}},
            f"{planted}:1: compares strings by canonical equivalence")
    stale = next(iter(rules.OTHER_KEYS))
    yield rules.values_are_compared_by_their_bytes, {"files": {stale: "let a = 1"}}, f"{stale}: has no dictionary"
    planted = "Sources/KelvinONNX/Planted.swift"
    yield rules.names_are_read_as_names, {"files": {planted: "name = try field.string()"}}, f"{planted}:1: reads name"
    yield (
        rules.rows_of_the_architecture, {"files": {rules.ARCHITECTURE: tree.text(rules.ARCHITECTURE).replace("`KelvinImages`", "")}},
        f"{rules.ARCHITECTURE}: the table of targets has no row for KelvinImages")
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
    path = "Shaders/shared/rank_elements.kernel"
    yield rules.operators_lie_in_files_of_their_names, {"files": {path: ""}}, f"{path}: its name does not begin"
    path = "Sources/CKelvinKernels/gather.c"
    yield (
        rules.operators_lie_in_files_of_their_names, {"files": {path: "void ck_scatter_nd_run("}},
        f"{path}: has the kernel of ScatterND")
    path = "Tests/KelvinPlanningTests/PlantedTests.swift"
    for text in ["", "@Suite struct Planted {}", "@Suite struct PlantedTestsOfPlans {}", "let suite = PlantedTests()"]:
        yield (
            rules.suites_have_the_names_of_their_files, {"files": {path: text}},
            f"{path}: does not declare the suite PlantedTests")
    for path in ["Package.resolved", ".build-thread/x.o", "bench/__pycache__/peers.pyc"]:
        yield rules.build_products, {"files": {path: ""}}, f"{path}: made by a build"
    for text in [
        "package let planted = 1", "func planted() {}", "  private(set) var planted = 1", "@frozen enum planted {}",
        "package enum Operator {\n  case planted\n}", "private struct Kernel {\n  static let planted = Kernel.self\n}",
    ]:
        line = text[:text.index("planted")].count("\n") + 1
        yield rules.declarations_are_used, {"files": {GRAPH: text}}, f"{GRAPH}:{line}: nothing uses planted"
    yield (
        rules.declarations_are_used, {"files": {GRAPH: "private let planted = 1", f"{GRAPH}.swift": "let a = planted"}},
        f"{GRAPH}:1: nothing uses planted")
    yield from faults_of_prose()
    for check in records.SCRIPTS:
        yield (
            records.records_are_recent,
            {"files": {records.RECORDS: record_of(check)}, "ages": {"planted": records.LIMIT + 1}},
            f"{records.RECORDS}: '{check}' ran {records.LIMIT + 1} commits ago, at planted")
    for text in ['fopen("/proc/self/statm", "r")', "getrusage(who, &usage)", '"/proc/self/fd"', "mallinfo2()"]:
        yield rules.measured_processes, {"files": {TESTS: text}}, f"{TESTS}:1: measures a process"


def record_of(check):
    return json.dumps({check: {"commit": "planted"}})


def faults_of_prose():
    """The same for the rules of English."""
    words, short = "word " * 24, "This sentence has a few words.\n" * 18
    for text, expected in [
        (f"The {words}ends. The {words}ends.", "1: sentences have 26.0 words"),
        (f"{short}The {words * 2}ends.", "19: a sentence of 50 words"),
    ]:
        yield prose.sentence_length, {"files": {PAGE: text}}, f"{PAGE}:{expected}"
    yield prose.paragraph_length, {"files": {PAGE: f"# Title\n\n{short}{short}"}}, f"{PAGE}:3: a paragraph of 216 words"
    for path, limit in prose.LINE_LIMITS.items():
        text = "line\n" * (limit + 1)
        yield prose.document_size, {"files": {path: text}}, f"{path}:{limit + 1}: {limit + 1} lines"
    yield prose.document_size, {"files": {PAGE: "word " * 1501}}, f"{PAGE}:1: 1501 words"
    for word in ["What", "Whatever", "Who", "Whoever", "Where", "Those", "Such", "That which"]:
        yield from faults_of_openings(word)
    for text in ['"\\(x) is no shape"', '"a " + "is no"\n  + " shape"', '"\\(x ? "is no shape" : "")"', '"""\nis\nno shape\n"""']:
        yield prose.negated_nouns, {"files": {GRAPH: f"let a = 1\nlet message = {text}"}}, f"{GRAPH}:"
    for figure in ["25 ms", "1.5 µs", "3 s", "12 MB", "1,024 MiB", "40 GFLOP/s", "5 %", "99%", "1.5 ×", "2.5 times as"]:
        for page in ["Architecture.md", PAGE]:
            text = f"\nIt takes {figure} long."
            yield prose.figures_in_design, {"files": {page: text}}, f"{page}:2: the figure '{figure}'"
    for text, term in [("A picture.", "picture"), ("Loops are walked.", "walked"), ("Memory is lent.", "lent")]:
        yield prose.document_terms, {"files": {PAGE: f"| {text} |"}}, f"{PAGE}:1: '{term}'"
        yield prose.comment_terms, {"files": {GRAPH: f"/// {text}"}}, f"{GRAPH}:1: '{term}'"
        yield prose.message_terms, {"files": {GRAPH: f'let a = "{text}"'}}, f"{GRAPH}:1: '{term}'"
    yield prose.comment_terms, {"files": {GRAPH: "/// It is spelled\n/// out."}}, f"{GRAPH}:1: 'spelled out'"
    for text, phrase in [
        ("It lies there.", "lies"), ("A loop's trip.", "trip"), ("Make it anew.", "anew"), ("Nobody reads it.", "Nobody"),
        ("The key means nothing.", "means nothing"), ("A map, this is none.", "is none"), ("It is of no kind.", "of no kind"),
        ("Kept for want of memory.", "for want of"), ("Read before it is known how large it is.", "how large it is"),
    ]:
        yield prose.message_terms, {"files": {GRAPH: f'let a = "{text}"'}}, f"{GRAPH}:1: '{phrase}'"
    for subject in ["cpu: add " + "x" * 70, "Adds a kernel", "cpu: adds a kernel", "cpu: what a kernel does", "cpu, gpu"]:
        yield prose.commit_subjects, {"commits": [("1234567", subject)]}, "commit 1234567: "


def faults_of_openings(word):
    """A sentence that opens with a word, in every kind of text."""
    text, opens = f"{word} is planted here.", f"opens with '{word}'"
    yield prose.document_openings, {"files": {PAGE: f"A sentence.\n{text}"}}, f"{PAGE}:2: a sentence {opens}"
    yield prose.message_openings, {"files": {GRAPH: f'let help = "{text}"'}}, f"{GRAPH}:1: a message {opens}"
    for path, comment, line in [
        (GRAPH, "/// {}", 1), (GRAPH, "/// Runs.\n/// {}", 2), (GRAPH, "/// Runs.\n///\n/// - Returns: {}", 3),
        (TESTS, "let a = 1  // {}", 1), ("dev/planted.sh", "# {}", 1), ("bench/planted.c", "/* {} */", 1),
        ("dev/planted.py", '"""{}"""', 1), ("dev/planted.py", "# {}", 1), ("dev/planted.py", "a = 1  # {}", 1),
    ]:
        yield prose.comment_openings, {"files": {path: comment.format(text)}}, f"{path}:{line}: a comment {opens}"


def allowed_prose():
    """English that only looks like a fault."""
    for text in [
        "```\nWhat is planted here takes 25 ms of pictures.\n```", "    What is planted here takes 25 ms.",
        "The call `What is planted, 25 ms` of `a picture` ends.", "<!-- What a picture is, 25 ms. -->",
        "What does a device do?", "Whether it runs is known.", "A wait ends within 30 s. <!-- figure: limit -->",
        "A kernel of 3 × 3 on version 1.2 of 4 sizes.", "See [the page](docs/picture.md).",
        "A rule, e.g. this one, is short. " * 8,
    ]:
        for rule in [prose.document_openings, prose.figures_in_design, prose.document_terms, prose.sentence_length]:
            yield rule, {"files": {PAGE: text}}, text
    for text in [
        'let a = "https://what.example"', "/// Whether it runs.", "/// The type `What` and\n/// where it is.",
        'let a = "a picture"', "// swift-format-ignore",
    ]:
        for rule in [prose.comment_openings, prose.comment_terms]:
            yield rule, {"files": {GRAPH: text}}, text
    for text in ["there is no memory", "it is no longer valid", "it is not a shape", "is nothing"]:
        yield prose.negated_nouns, {"files": {GRAPH: f'let a = "{text}"'}}, text
    for text in ["picture", "SELECT id FROM pictures", "give --trips 5", "none of them has a name", "there are none"]:
        yield prose.message_terms, {"files": {GRAPH: f'let a = "{text}"'}}, text
    for subject in ["cpu: add a kernel", "docs/guide, dev: process what remains", "ci: embed a table", 'Revert "Anything"']:
        yield prose.commit_subjects, {"commits": [("1234567", subject)]}, subject


def allowed(tree):
    """Files that only look like a fault."""
    yield from allowed_prose()
    for text in ["// import KelvinCPU", '"""\nimport KelvinCPU\n"""', "/* \nimport KelvinCPU\n*/", "let x = important"]:
        yield rules.declared_imports, {"files": {GRAPH: text}}, text
    yield rules.file_sizes, {"files": {GRAPH: "\n" * 500}}, "500 lines"
    for ages in [{"planted": records.LIMIT}, {"planted": None}, {}]:
        change = {"files": {records.RECORDS: record_of("fuzzing")}, "ages": ages}
        yield records.records_are_recent, change, f"a record of age {ages}"
    for kernel in ["gather", "gather_nd", "planted"]:
        yield (
            rules.operators_lie_in_files_of_their_names,
            {"files": {"Sources/CKelvinKernels/gather.c": f"void ck_{kernel}_run("}}, kernel)
    for text in [
        "public let planted = 1", "override func planted() {}", "protocol Operator {\n  func planted()\n}",
        "let planted = 1\nlet width = planted", "switch a {\ncase planted: width\ncase planted, planted:\n}",
        "// func planted", "public enum Operator {\n  case planted\n}",
    ]:
        yield rules.declarations_are_used, {"files": {GRAPH: text}}, text


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
    usual = {rule: set(rule(tree)) for rule in RULES}
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
    failures += [f"no fault is planted for {rule.__name__}" for rule in RULES if rule not in proved]
    for failure in failures:
        print(f"check: {failure}", file=sys.stderr)
    if not failures:
        print(f"check: {len(proved)} rules see what they forbid")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
