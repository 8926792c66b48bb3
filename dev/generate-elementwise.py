#!/usr/bin/env python3
"""Writes the Swift, C, GLSL and OpenCL code for the element-wise functions, from the tables in dev/elementwise.

A table is a family. Its rows are the functions, with their numbers in kernels and shaders.

    python3 dev/generate-elementwise.py            # writes the files under Generated folders
    python3 dev/generate-elementwise.py --check    # writes nothing; the status is 1 if a file differs from the tables

Needs Python 3.11 and nothing else. After a change, dev/build-shaders.sh compiles the shaders again.
"""
import difflib
import itertools
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "dev/elementwise"
NOTE = "Written by dev/generate-elementwise.py from dev/elementwise. Do not edit."

# The largest number in a family, and the number that stands for no function.
LIMIT = 253
NONE = 255

COLUMNS = {
    "number": int, "meaning": str, "parameters": int, "operations": int, "integers": bool, "fused_by_opencl": bool,
    "reference": str, "c": str, "c_scalar": str, "glsl": str, "opencl": str,
}


def read(family):
    """The rows of a table by name, ascending by number."""
    path = TABLES / f"{family}.toml"
    rows = tomllib.loads(path.read_text())
    for name, row in rows.items():
        for column, value in row.items():
            if not isinstance(value, COLUMNS.get(column, ())):
                sys.exit(f"{path.name}: [{name}]: '{column}' is not a column of that kind")
        if "meaning" not in row:
            sys.exit(f"{path.name}: [{name}]: a meaning is missing")
        if not 0 <= row.get("number", -1) <= LIMIT:
            sys.exit(f"{path.name}: [{name}]: expected a number from 0 to {LIMIT}")
    numbers = [row["number"] for row in rows.values()]
    if numbers != list(range(len(rows))):
        sys.exit(f"{path.name}: expected the numbers 0, 1, 2 … in this order, got {numbers}")
    return rows


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def wrapped(items, indent, width=120):
    """Items separated by commas, in lines."""
    lines, line = [], ""
    for item in items:
        if line and len(indent) + len(line) + len(item) + 2 > width:
            lines.append(indent + line.rstrip())
            line = ""
        line += item + ", "
    return lines + [indent + line.rstrip(", ")]


def swift_enum(rows, name, indent):
    pad = " " * indent
    lines = [f"{pad}package enum {name}: String, ElementwiseFunction {{"]
    # Cases that are named like their function share lines.
    for is_same, keys in itertools.groupby(rows, lambda key: camel(key) == key):
        if is_same:
            cases = wrapped(keys, pad + "    ")
            lines += [f"{pad}  case {cases[0].strip()}"] + cases[1:]
        else:
            lines += [f'{pad}  case {camel(key)} = "{key}"' for key in keys]
    meanings = [f"{pad}    .{camel(key)}: \"{row['meaning']}\"," for key, row in rows.items()]
    return lines + ["", f"{pad}  package static let meanings: [Self: String] = ["] + meanings + [f"{pad}  ]", f"{pad}}}"]


def swift_cases(rows, wanted, value, indent):
    names = [f".{camel(key)}" for key, row in rows.items() if wanted(row)]
    if not names:
        return []
    lines = wrapped(names, " " * (indent + 2))
    lines[0] = " " * indent + "case " + lines[0].strip()
    lines[-1] += f": {value}"
    return lines


def swift_property(rows, doc, name, kind, value, indent=2):
    """Returns a property with a switch over the rows; the most frequent value is the default."""
    pad = " " * indent
    values = [value(row) for row in rows.values()]
    default = max(sorted(set(values), key=str), key=values.count)
    lines = [f"{pad}/// {doc}", f"{pad}package var {name}: {kind} {{", f"{pad}  switch self {{"]
    for other in sorted(set(values) - {default}, key=str):
        lines += swift_cases(rows, lambda row, other=other: value(row) == other, other, indent + 2)
    return lines + [f"{pad}  default: {default}", f"{pad}  }}", f"{pad}}}"]


def swift_kinds(families):
    unary = families["unary"]
    lines = [f"// {NOTE}", "", "extension UnaryFunction {"] + swift_enum(unary, "Kind", 2)
    lines += ["",
              "  /// The number that stands for no function.",
              f"  package static let noneCode: UInt32 = {NONE}", "}", "", "extension UnaryFunction.Kind {"]
    lines += swift_property(unary, "The number of the parameters `a` and `b` that the function reads.", "parameterCount", "Int",
                            lambda row: row.get("parameters", 0))
    lines += [""] + swift_property(
        unary, "The floating-point operations per element; a transcendental function counts as 10.", "operations",
        "Double", lambda row: row.get("operations", 12))
    lines += [""] + swift_property(
        unary, "Whether integer kernels compute the function, whose result on an integer is an integer.",
        "keepsIntegers", "Bool", lambda row: str(row.get("integers", False)).lower())
    lines += ["}"]
    for owner, family in (("Binary", "binary"), ("Compare", "compare"), ("Reduce", "reduce")):
        lines += ["", f"extension {owner} {{"] + swift_enum(families[family], "Function", 2) + ["}"]
    lines += ["", "/// How a scatter combines an element with its update."]
    lines += swift_enum(families["scatter"], "ScatterReduction", 0)
    return lines


def swift_reference(families):
    lines = [f"// {NOTE}", "import Glibc", "import KelvinGraph", "", "extension UnaryFunction {",
             "  /// The function's definition.", "  @Sendable func evaluate(_ x: Double) -> Double {",
             "    let (a, b) = (Double(a), Double(b))", "    switch kind {"]
    lines += [f"    case .{camel(key)}: return {row['reference']}" for key, row in families["unary"].items()]
    return lines + ["    }", "  }", "}"]


def swift_opencl(families):
    lines = [f"// {NOTE}", "internal import KelvinGraph", "", "extension UnaryFunction {",
             "  /// Whether convolutions apply the function themselves: `activate` in `Generated/functions.cl`.",
             "  var isFusedByKernels: Bool {", "    switch kind {"]
    lines += swift_cases(families["unary"], lambda row: row.get("fused_by_opencl"), "true", 4)
    return lines + ["    default: false", "    }", "  }", "}"]


def c_header(families):
    lines = [f"/* {NOTE} */", "#pragma once", "",
             "/* The numbers of the functions of one and of two elements, of comparisons, reductions and scatters. */"]
    for family, rows in families.items():
        names = [f"ck_{family}_{key} = {row['number']}" for key, row in rows.items()]
        lines += ["typedef enum {"] + wrapped(names, "  ") + [f"}} ck_{family};"]
    unary, binary = families["unary"], families["binary"]
    lines += ["",
              "/* How many functions of one element there are, and of two. */",
              f"enum {{ ck_unary_functions = {len(unary)}, ck_binary_functions = {len(binary)} }};", ""]

    def macro(comment, head, rows):
        rows = [f"  {row}" for row in rows]
        width = max(len(row) for row in [f"#define {head}"] + rows) + 1
        continued = [row.ljust(width) + "\\" for row in [f"#define {head}"] + rows[:-1]]
        return [f"/* {comment} */"] + continued + rows[-1:] + [""]

    lines += macro(
        "VECTOR(name, f(x, a, b)) for functions of vectors, SCALAR for those of one element.",
        "CK_UNARY_FUNCTIONS(VECTOR, SCALAR)",
        [f"VECTOR({key}, {row['c']})" if "c" in row else f"SCALAR({key}, {row['c_scalar']})"
         for key, row in unary.items() if "c" in row or "c_scalar" in row])
    lines += macro("EACH(name, f(x, y)) for functions of vectors.", "CK_BINARY_FUNCTIONS(EACH)",
                   [f"EACH({key}, {row['c']})" for key, row in binary.items() if "c" in row])
    lines += macro("EACH(name)", "CK_REDUCE_FUNCTIONS(EACH)", [f"EACH({key})" for key in families["reduce"]])
    return lines[:-1]


def glsl_numbers(families):
    lines = [f"// {NOTE}", ""]
    for family, rows in families.items():
        for key, row in rows.items():
            lines.append(f"const uint {family.upper()}_{key.upper()} = {row['number']}u;")
    return lines + [f"const uint UNARY_NONE = {NONE}u;"]


def glsl_unary(families):
    lines = [f"// {NOTE}", "// Needs functions.glsl.", "",
             "float apply(uint function, float x, float a, float b) {", "  switch (function) {"]
    lines += [f"  case UNARY_{key.upper()}: return {row['glsl']};" for key, row in families["unary"].items()
              if "glsl" in row]
    return lines + ["  default: return x;", "  }", "}"]


def glsl_binary(families):
    lines = [f"// {NOTE}", "// Needs combine.glsl.", "", "vec4 combine(uint function, vec4 x, vec4 y) {",
             "  switch (function) {"]
    rows = [(key, row["glsl"]) for key, row in families["binary"].items() if "glsl" in row]
    lines += [f"  case BINARY_{key.upper()}: return {formula};" for key, formula in rows[:-1]]
    lines += [f"  default: return {rows[-1][1]};"]
    return lines + ["  }", "}"]


def opencl(families):
    lines = [f"// {NOTE}", ""]
    for family, rows in families.items():
        lines += [f"#define {family.upper()}_{key.upper()} {row['number']}" for key, row in rows.items()]
    lines += [f"#define UNARY_NONE {NONE}", "", "// The activations that kernels fuse; any other number gives x.",
              "static inline vec activate(int code, float a, float b, vec x) {", "  switch (code) {"]
    unary = families["unary"]
    lines += [f"    case UNARY_{key.upper()}: return {row['opencl']};" for key, row in unary.items()
              if row.get("fused_by_opencl")]
    lines += ["    default: return x;", "  }", "}", "",
              "// What a switch over the code of a function of one or of two elements holds.", "#define UNARY_CASES \\"]
    lines += [f"  case UNARY_{key.upper()}: return {row['opencl']}; \\" for key, row in unary.items()
              if "opencl" in row and not row.get("fused_by_opencl")]
    lines += ["  default: return activate(code, a, b, x);", "", "#define BINARY_CASES \\"]
    rows = [f"  case BINARY_{key.upper()}: return {row['opencl']};" for key, row in families["binary"].items()
            if "opencl" in row]
    return lines + [f"{row} \\" for row in rows[:-1]] + rows[-1:]


def outputs():
    families = {name: read(name) for name in ("unary", "binary", "compare", "reduce", "scatter")}
    return {
        "Sources/KelvinGraph/Operators/Generated/ElementwiseFunctions.swift": swift_kinds(families),
        "Sources/KelvinReference/Generated/UnaryFunction+Reference.swift": swift_reference(families),
        "Sources/KelvinOpenCL/Generated/UnaryFunction+Fused.swift": swift_opencl(families),
        "Sources/CKelvinKernels/Generated/ck_functions.h": c_header(families),
        "Shaders/Generated/numbers.glsl": glsl_numbers(families),
        "Shaders/Generated/unary.glsl": glsl_unary(families),
        "Shaders/Generated/binary.glsl": glsl_binary(families),
        "Shaders/opencl/Generated/functions.cl": opencl(families),
    }


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = False
    for name, lines in outputs().items():
        path, text = ROOT / name, "\n".join(lines) + "\n"
        current = path.read_text() if path.exists() else ""
        if current == text:
            continue
        stale = True
        if sys.argv[1:]:
            sys.stdout.writelines(difflib.unified_diff(
                current.splitlines(True), text.splitlines(True), name, f"{name} from the tables"))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {name}")
    sys.exit(1 if stale and sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
