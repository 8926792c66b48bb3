"""The rules for sources, each a function from a tree of files to the violations. dev/check.sh runs them;
dev/planted_faults.py proves that each sees what it forbids.

Rows and what they may import are read from Package.swift and from the table of targets in Architecture.md, never listed here.
"""
import collections
import copy
import functools
import json
import pathlib
import re
import subprocess
import sys

ARCHITECTURE = "Architecture.md"
LINE_LIMIT = 500
COUNTED = (".swift", ".c", ".h", ".comp", ".glsl", ".cl", ".py", ".sh")
# The modules of the toolchain; every other module is a target or a product that Package.swift declares.
TOOLCHAIN = {"Swift", "Dispatch", "FoundationEssentials", "Glibc", "Synchronization", "PackageDescription"}
TEST_TOOLCHAIN = TOOLCHAIN | {"Testing"}
# Sources of shaders that are included, or whose kernels serve several operators; and matmul, whose operator is MatMul.
SHARED_SHADERS = {
    "codes", "dialect", "lines", "meanings", "prelude", "scaling", "scattered", "variant",
    "block", "blocked", "copy", "half", "narrow", "unblock",
    "depthwise", "depthwise_transpose", "integer_product", "matmul", "normalize_lines", "normalize_rows",
    "requantize", "staged_integer_sum", "staged_integers", "staged_product", "staged_product_windows", "staged_sum", "unfold", "winograd", "winograd_input", "winograd_output", "winograd_repair"}
# Modules that are declared in order to be linked or run, and never imported.
UNIMPORTED = {"CMutexForTSan", "KelvinC"}
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:typealias|struct|class|actor|enum|protocol|let|var|func)\s+)?(\w+)")


class Tree:
    """The tracked files of the project and its manifest."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        tracked = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
        self.files = [path for path in tracked.split("\0") if path]
        self.texts = {}
        # Commits after a commit, where a test replaces git's own answer.
        self.ages = {}

    @functools.cached_property
    def manifest(self):
        return json.loads(subprocess.run(
            ["swift", "package", "dump-package"], cwd=self.root, check=True, capture_output=True, text=True).stdout)

    @functools.cached_property
    def commits(self):
        """Hash and subject of each commit that the main branch does not have yet; none where that branch is not known."""
        for base in ["origin/main", "main"]:
            log = subprocess.run(
                ["git", "log", "--no-merges", "--format=%h %s", f"{base}..HEAD"], cwd=self.root, check=False,
                capture_output=True, text=True)
            if log.returncode == 0:
                return [tuple(line.split(" ", 1)) for line in log.stdout.splitlines()]
        return []

    def planted(self, files=None, manifest=None, commits=None, ages=None):
        """The same with some files and possibly the manifest, the commits or their ages replaced, in memory."""
        tree = copy.copy(self)
        tree.files = self.files + sorted(set(files or {}) - set(self.files))
        tree.texts = self.texts | (files or {})
        tree.ages = ages or {}
        if manifest is not None:
            tree.manifest = manifest
        if commits is not None:
            tree.commits = commits
        return tree

    def text(self, path):
        if path not in self.texts:
            file = self.root / path
            self.texts[path] = file.read_text(encoding="utf-8") if file.exists() else ""
        return self.texts[path]

    def under(self, folder, *suffixes):
        return [path for path in self.files if path.startswith(folder + "/") and path.endswith(suffixes)]

    def targets(self):
        """Name, kind, folder and declared dependencies of each target, in the manifest's order."""
        for target in self.manifest["targets"]:
            kind = target["type"]
            folder = target.get("path") or f"{'Tests' if kind == 'test' else 'Sources'}/{target['name']}"
            needs = [next(iter(need.values()))[0] for need in target["dependencies"]]
            yield target["name"], kind, folder, needs


@functools.cache
def imports(text):
    """Line number and module of each import, text in strings of several lines and comments left out."""
    def blank(match):
        return "\n" * match.group().count("\n")
    found = []
    text = re.sub(r'(#*)""".*?"""\1|/\*.*?\*/', blank, text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        for statement in line.split("//")[0].split(";"):
            match = IMPORT.match(statement)
            if match:
                found.append((number, match.group(1)))
    return found


def file_sizes(tree):
    for path in tree.files:
        if path.endswith(COUNTED) and "/Generated/" not in path:
            count = tree.text(path).count("\n")
            if count > LINE_LIMIT:
                yield f"{path}: {count} lines, {LINE_LIMIT} at most: split it by concepts"


def foundation(tree):
    for path in tree.under("Sources", ".swift"):
        for line, module in imports(tree.text(path)):
            if module == "Foundation":
                yield f"{path}:{line}: imports Foundation: import FoundationEssentials"


def declared_imports(tree):
    for name, kind, folder, needs in tree.targets():
        if folder.startswith("Sources/C"):
            continue
        allowed = set(needs) | (TOOLCHAIN if folder.startswith("Sources/") else TEST_TOOLCHAIN) | {"Foundation"}
        for path in tree.under(folder, ".swift"):
            for line, module in imports(tree.text(path)):
                if module not in allowed:
                    yield f"{path}:{line}: imports {module}, which Package.swift does not declare for {name}"


def imported_declarations(tree):
    executables = {name for name, kind, _, _ in tree.targets() if kind == "executable"}
    for name, _, folder, needs in tree.targets():
        imported = {module for path in tree.under(folder, ".swift") for _, module in imports(tree.text(path))}
        for path in tree.under(folder, ".c", ".h"):
            imported |= set(re.findall(r'^#include "(\w+)\.h"', tree.text(path), re.MULTILINE))
        for need in needs:
            if need not in imported and need not in executables | UNIMPORTED:
                yield f"Package.swift: {name} declares {need} and imports it nowhere"


def rows_of_the_manifest(tree):
    above = set()
    own = {name for name, _, _, _ in tree.targets()}
    for name, _, _, needs in tree.targets():
        for need in needs:
            if need in own and need not in above:
                yield f"Package.swift: {name} needs {need}, whose row is not above it"
        above.add(name)


def rows_of_the_architecture(tree):
    """The table of targets must name every target of Sources, and each may depend only on targets of rows above its own."""
    rows = {}
    for number, line in enumerate(tree.text(ARCHITECTURE).splitlines()):
        cells = line.split("|")
        if len(cells) == 4 and cells[1].strip().startswith("`"):
            for room in re.findall(r"`(\w+)`", cells[1]):
                rows.setdefault(room, number)
    own = {name: needs for name, _, folder, needs in tree.targets() if folder.startswith("Sources/")}
    for name, needs in own.items():
        if name not in rows:
            yield f"{ARCHITECTURE}: the table of targets has no row for {name}"
            continue
        for need in needs:
            if need in rows and rows[need] >= rows[name]:
                yield f"{ARCHITECTURE}: {name} needs {need}, whose row is not above its own"


def planning_knows_only_values(tree):
    for name, _, _, needs in tree.targets():
        if name == "KelvinPlanning" and set(needs) - {"KelvinBasics"}:
            yield f"Package.swift: KelvinPlanning knows only values, and declares {', '.join(needs)}"


COMMAND_LINE = "KelvinCommands"


def conformance_is_for_tests(tree):
    for name, kind, folder, needs in tree.targets():
        isLibrary = kind == "regular" and folder.startswith("Sources/") and name != COMMAND_LINE
        if isLibrary and "KelvinConformance" in needs:
            yield f"Package.swift: {name} is a library and declares KelvinConformance"


def the_command_line_is_a_client(tree):
    """The command line may import the public rooms, the printing targets and, for `kelvin operators`, the
    conformance cases."""
    allowed = {
        "Kelvin", "KelvinMeasuring", "KelvinTables", "KelvinVision", "KelvinCollections", "KelvinVideo", "KelvinText",
        "KelvinGeneration", "KelvinCompression", "KelvinPackaging", "KelvinStore", "KelvinBasics", "KelvinConformance",
        "ArgumentParser",
    }
    for name, _, _, needs in tree.targets():
        for need in needs if name == COMMAND_LINE else []:
            if need not in allowed:
                yield f"Package.swift: the command line declares {need}; what it needs belongs in Kelvin, KelvinVision or KelvinText"


def operators_lie_in_files_of_their_names(tree):
    """An operator, and its kernel on each device, must be in the file of the operator's name."""
    catalog = tree.text("Sources/KelvinGraph/Operators/Catalog.swift")
    for name in re.findall(r"^  (\w+)\.self,$", catalog, re.MULTILINE):
        path = f"Sources/KelvinGraph/Operators/{name}.swift"
        if f"struct {name}:" not in tree.text(path):
            yield f"{path}: does not hold the operator {name}"
    for device in ["Reference", "CPU", "GPU"]:
        catalog = tree.text(f"Sources/Kelvin{device}/Kernels/Catalog.swift")
        names = re.findall(r"^  table\.add(\w+)\(\)$", catalog, re.MULTILINE)
        for name in names:
            path = f"Sources/Kelvin{device}/Kernels/{name}.swift"
            if not re.search(rf"func add{name}(<\w+>)?\(\)", tree.text(path)):
                yield f"{path}: does not hold the kernel of {name}"
        if device == "CPU":
            yield from c_kernels_lie_in_files_of_their_names(tree, names)
    # A kernel file belongs to one operator on Vulkan and OpenCL; shared code is outside the folder.
    for device in ["Vulkan", "OpenCL"]:
        for path in tree.under(f"Sources/Kelvin{device}/Kernels", ".swift"):
            if pathlib.PurePath(path).stem not in names:
                yield f"{path}: {pathlib.PurePath(path).stem} is not an operator with a kernel on GPUs"
    # So does a kernel's source, except for parts and for kernels of several operators.
    operators = tuple(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower() for name in names)
    for path in tree.under("Shaders", ".comp", ".cl", ".kernel"):
        stem = pathlib.PurePath(path).stem
        if "/Generated/" not in path and stem not in SHARED_SHADERS and not stem.startswith(operators):
            yield f"{path}: its name does not begin with that of an operator with a kernel on GPUs"


def c_kernels_lie_in_files_of_their_names(tree, operators):
    """The file of a kernel in C has the operator's name or the first words of it: gather.c has GatherND."""
    snakes = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): name for name in operators}
    for path in tree.under("Sources/CKelvinKernels", ".c"):
        for kernel in re.findall(r"^void ck_(\w+)_run\(", tree.text(path), re.MULTILINE):
            if kernel in snakes and not f"{kernel}_".startswith(pathlib.PurePath(path).stem + "_"):
                yield f"{path}: has the kernel of {snakes[kernel]}"


def suites_have_the_names_of_their_files(tree):
    for path in tree.under("Tests", "Tests.swift"):
        suite = pathlib.PurePath(path).stem
        if not re.search(rf"\b(struct|enum|class|actor) {suite}\b", tree.text(path)):
            yield f"{path}: does not declare the suite {suite}"


def build_products(tree):
    for path in tree.files:
        if re.search(r"(^|/)(\.build[^/]*/|Package\.resolved$|.*\.resolved$|__pycache__/|\.venv)", path):
            yield f"{path}: made by a build: take it out of the repository"


def measured_processes(tree):
    """Only Tests/TestSupport/OwnProcess.swift may measure a process, because it makes sure that nothing else runs in
    it."""
    pattern = re.compile(r"/proc/self/(stat|smaps|fd|task|io)|\bgetrusage\(|\bmallinfo|\bmalloc_stats")
    for path in tree.under("Tests", ".swift"):
        if path != "Tests/TestSupport/OwnProcess.swift":
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                if pattern.search(line):
                    yield f"{path}:{number}: measures a process that other tests share: use OwnProcess"


def documents_are_read_in_one_place(tree):
    """Only one file may use Foundation's decoder, which stops the program at documents that JSONText refuses."""
    home = "Sources/KelvinBasics/JSONText.swift"
    pattern = re.compile(r"decoder(\(\))?\.decode\([^)]*\bfrom:", re.IGNORECASE)
    for path in tree.under("Sources", ".swift"):
        if path != home:
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                if pattern.search(line):
                    yield f"{path}:{number}: reads JSON with Foundation's decoder: use JSONText.decode"


# Folders whose strings are values of users and models: labels, words, cells, paths.
EXACT_FOLDERS = tuple(
    f"Sources/Kelvin{each}"
    for each in ("Collections", "Evaluation", "HostOperations", "Index", "Tables", "Text", "Vision"))
CANONICAL = re.compile(r"\[String: |\bSet<String>")
# Files there with dictionaries and sets that are not keyed by values, and the keys.
OTHER_KEYS = {
    "Sources/KelvinCollections/Evaluation/ContenderCost.swift": "identifiers of devices",
    "Sources/KelvinCollections/Evaluation/LabelMatching.swift": "names that match in any Unicode form",
    "Sources/KelvinCollections/Evaluation/Regression/RegressionEvaluation+Findings.swift": "names of features",
    "Sources/KelvinCollections/Evaluation/Regression/RegressionRequest.swift": "names of features",
    "Sources/KelvinCollections/Evaluation/Regression/RegressionTable.swift": "names of features",
    "Sources/KelvinIndex/Folder/FolderScan.swift": "endings of files",
    "Sources/KelvinIndex/IndexFacts.swift": "names of settings",
    "Sources/KelvinVision/Classification/PrecisionRecallCurves.swift": "labels of a JSON document, which Foundation reads",
    "Sources/KelvinVision/Detection/ImageDetector.swift": "names of features",
    "Sources/KelvinVision/Detection/KnownHeads.swift": "keys of metadata",
    "Sources/KelvinVision/Segmentation/SegmentationClasses.swift": "constants",
    "Sources/KelvinHostOperations/CustomOperation.swift": "names of parameters, in the public interface",
    "Sources/KelvinHostOperations/MissingNumbers.swift": "names of features",
    "Sources/KelvinHostOperations/Strings/RegularExpressionParser.swift": "literals",
    "Sources/KelvinHostOperations/Rows/RowColumn.swift": "names of slots",
    "Sources/KelvinText/Models/TokenModel.swift": "names of features",
    "Sources/KelvinText/Models/TokenInput.swift": "names of features",
    "Sources/KelvinTables/TableCells.swift": "keys of a JSON document, which Foundation reads",
    "Sources/KelvinTables/TableRow.swift": "names of features",
    "Sources/KelvinTables/TableOutputs.swift": "names of features",
    "Sources/KelvinTables/TableInputs.swift": "names of features",
    "Sources/KelvinTables/TablePredictor.swift": "names of features",
    "Sources/KelvinTables/TablePrediction.swift": "names of features, in the public interface",
}
# Variables of readers of formats that hold strings other than names.
TEXTS = {"producer", "summary", "value", "text", "version", "author", "license", "path"}


def values_are_compared_by_their_bytes(tree):
    """Swift compares strings by canonical equivalence, and formats by bytes."""
    found = set()
    for folder in EXACT_FOLDERS:
        for path in tree.under(folder, ".swift"):
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                if CANONICAL.search(line) and not line.lstrip().startswith("//"):
                    found.add(path)
                    if path not in OTHER_KEYS:
                        yield f"{path}:{number}: compares strings by canonical equivalence: use ExactString"
    for path in OTHER_KEYS.keys() - found:
        yield f"{path}: has no dictionary or set of strings: delete it from OTHER_KEYS"


def names_are_read_as_names(tree):
    """WireField.name() makes names distinct whose bytes differ; WireField.string() does not."""
    for folder in ["Sources/KelvinONNX", "Sources/KelvinCoreML"]:
        for path in tree.under(folder, ".swift"):
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                match = re.search(r"(\w+) = try \w+\.string\(\)", line)
                if match and match.group(1) not in TEXTS:
                    yield f"{path}:{number}: reads {match.group(1)} as a string: use name(), or add it to TEXTS"


ACCESS = ("public", "open", "package", "internal", "fileprivate", "private")
MODIFIERS = "|".join(ACCESS) + (
    "|static|final|lazy|weak|unowned|indirect|mutating|consuming|borrowing|nonisolated|override")
DECLARATION = re.compile(
    rf"^ *(?:@\w+(?:\([^)]*\))? )*((?:(?:{MODIFIERS})(?:\(\w+\))? )*)"
    r"(func|var|let|struct|class|enum|actor|protocol|typealias|associatedtype) `?(\w+)")
# A line of an enumeration, without the types of associated values. A case of a switch has a colon.
CASE = re.compile(r"^ *(?:indirect )?case ((?:`?\w+`?(?: = [^,:]+)?(?:, |$))+)$")
PROTOCOL = re.compile(r"^( *)(?:\w+ )*protocol \w+[^{]*\{\n(.*?)^\1\}", re.MULTILINE | re.DOTALL)
# Names that the language uses.
LANGUAGE_NAMES = {"Failure", "_", "CodingKeys", "appendInterpolation", "appendLiteral", "callAsFunction", "hash", "main"}
# Declarations that nothing in Sources uses, and why they are there.
UNUSED_IN_SOURCES = {
    "ParsedCommandLine": "the fuzz target parses command lines without executing them",
    "headers": "the fuzz target reads image headers without the decoder, which is another project's",
    "allowNoMore": "tests shorten the wait for a device that hangs",
    "believe": "tests choose whether self-tests run",
    "examined": "tests compare the self-tests that ran with the kernels in use",
    "shaders": "tests compare the kernels of a segment with the self-tests",
    "programCount": "a test observes the limit on cached programs",
    "readsHostMemory": "tests distinguish drivers that import memory from those that copy it",
    "validationMessages": "tests read the messages of the validation layer",
    "configurations": "a key whose presence marks a benchmark's report",
}


@functools.cache
def declarations(text):
    """Line, access and name of each declaration of a Swift file; the names that its protocols declare; the number of
    times that each word occurs. Comments are left out."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"//.*", "", text)
    declared, access_of_cases = [], "internal"
    for number, line in enumerate(text.splitlines(), 1):
        if match := DECLARATION.match(line):
            modifiers = match.group(1).split()
            access = next((modifier for modifier in modifiers if modifier in ACCESS), "internal")
            if match.group(2) == "enum":
                access_of_cases = access
            if "override" not in modifiers:
                declared.append((number, access, match.group(3)))
        elif match := CASE.match(re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "", line)):
            cases = re.findall(r"(?:^|, )`?(\w+)", match.group(1))
            declared += [(number, access_of_cases, name) for name in cases]
    required = {
        match.group(3) for _, body in PROTOCOL.findall(text) for line in body.splitlines()
        if (match := DECLARATION.match(line))}
    return declared, required, collections.Counter(re.findall(r"\w+", text))


def declarations_are_used(tree):
    """A name that is not public must occur more often than it is declared: in its file if it is private, in its module if
    it is internal, in Sources if it has package access. Generated files follow schemas of others, and
    KelvinConformance is for tests."""
    files = tree.under("Sources", ".swift")
    uses, exempt = collections.defaultdict(collections.Counter), LANGUAGE_NAMES | set(UNUSED_IN_SOURCES)
    for path in files:
        declared, required, words = declarations(tree.text(path))
        exempt = exempt | required
        for scope in [path, path.split("/")[1], "Sources"]:
            uses[scope].update(words)
            uses[scope].subtract(name for _, _, name in declared)
    for path in files:
        module = path.split("/")[1]
        if "/Generated/" in path or module == "KelvinConformance":
            continue
        scopes = {"private": path, "fileprivate": path, "internal": module, "package": "Sources"}
        for line, access, name in declarations(tree.text(path))[0]:
            if access in scopes and name not in exempt and uses[scopes[access]][name] <= 0:
                yield f"{path}:{line}: nothing uses {name}: delete it"


RULES = [
    file_sizes, foundation, declared_imports, imported_declarations, rows_of_the_manifest, rows_of_the_architecture,
    planning_knows_only_values, conformance_is_for_tests, the_command_line_is_a_client,
    operators_lie_in_files_of_their_names, suites_have_the_names_of_their_files, build_products, measured_processes,
    documents_are_read_in_one_place, values_are_compared_by_their_bytes, names_are_read_as_names, declarations_are_used,
]


def main():
    tree = Tree(pathlib.Path(__file__).parent.parent)
    complaints = [complaint for rule in RULES for complaint in rule(tree)]
    for complaint in complaints:
        print(f"check: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
