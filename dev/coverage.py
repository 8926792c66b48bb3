#!/usr/bin/env python3
"""Writes docs/coverage.md: the operations that each format defines, by the `onnx` and `coremltools` packages, and those that
Kelvin reads, by `kelvin operators --formats`.

    python3 dev/coverage.py KELVIN       # the program; in an environment with onnx and coremltools
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/coverage.md"

# Operators that Kelvin refuses by design, with the reason. All others that are not read count as missing.
REFUSED = {
    "custom_layer": "code of the model's author",
    "ai.onnx.preview.training": "training",
    "audioFeaturePrint": "Apple's own network", "visionFeaturePrint": "Apple's own network", "soundAnalysisPreprocessing":
    "Apple's own code", "textClassifier": "Apple's own network", "wordTagger": "Apple's own network", "gazetteer":
    "Apple's own network", "wordEmbedding": "Apple's own network",
    "serializedModel": "Apple's own format",
}


def onnx_operators():
    """Returns the operators by domain, of the newest set, without deprecated operators."""
    from onnx import defs

    domains = {}
    for schema in defs.get_all_schemas():
        if not schema.deprecated:
            domains.setdefault(schema.domain or "ai.onnx", set()).add(schema.name)
    return {domain: sorted(names) for domain, names in sorted(domains.items())}


def program_operations():
    """Returns the operations that coremltools' builder writes into a program, in any version, including those that
    states become; complex numbers and symbols are resolved before."""
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

    names = {name for name in SSAOpRegistry.core_ops if not name.startswith(("_", "complex"))}
    return sorted(names | {"coreml_update_state", "write_state"})


def layers():
    from coremltools.proto import NeuralNetwork_pb2

    layer = NeuralNetwork_pb2.DESCRIPTOR.message_types_by_name["NeuralNetworkLayer"]
    return sorted(field.name for field in layer.oneofs_by_name["layer"].fields)


def models():
    from coremltools.proto import Model_pb2

    return sorted(field.name for field in Model_pb2.DESCRIPTOR.message_types_by_name["Model"].oneofs_by_name["Type"].fields)


def section(title, defined, read, domain=None):
    """Returns a line with the operations that are read, and lists of those that are not."""
    lines = [f"## {title}", ""]
    there = [name for name in defined if name in read]
    refused = [name for name in defined if name not in read and (name in REFUSED or domain in REFUSED)]
    missing = [name for name in defined if name not in read and name not in refused]
    names = ": " + ", ".join(f"`{name}`" for name in there) if there else ""
    lines.append(f"Read, {len(there)} of {len(defined)}{names}.")
    if refused:
        reasons = {}
        for name in refused:
            reasons.setdefault(REFUSED.get(name) or REFUSED[domain], []).append(name)
        for reason, names in reasons.items():
            lines += ["", f"Refused, {reason}: " + ", ".join(f"`{name}`" for name in names) + "."]
    if missing:
        lines += ["", f"Not yet, {len(missing)}: " + ", ".join(f"`{name}`" for name in missing) + "."]
    return lines + [""], (len(there), len(refused), len(missing))


def main():
    import coremltools
    import onnx

    kelvin = json.loads(subprocess.run([sys.argv[1], "operators", "--formats", "--json"], check=True,
                                       capture_output=True).stdout)
    rows, sections = [], []

    def add(title, defined, read, domain=None):
        lines, counts = section(title, defined, set(read), domain)
        sections.extend(lines)
        rows.append(f"| {title} | {counts[0]} | {counts[1]} | {counts[2]} |")

    domains = onnx_operators()
    for domain, names in domains.items():
        prefix = "" if domain == "ai.onnx" else f"{domain}."
        add(f"ONNX, `{domain}`", names, [name.removeprefix(prefix) for name in kelvin["onnx"] if name.startswith(prefix)], domain)
    others, extensions = [[name for name in kelvin["onnx"] if name.startswith(f"{domain}.")] for domain in ["com.microsoft", "ai.onnx.contrib"]]
    add("ML Programs", program_operations(), kelvin["mlProgram"])
    add("Neural networks", layers(), kelvin["neuralNetwork"])
    add("Kinds of Core ML models", models(), kelvin["models"])
    page = [
        "# Coverage", "",
        f"This page lists the operations that each format defines, by onnx {onnx.__version__} and coremltools {coremltools.__version__}, and the",
        "operations that Kelvin reads. It is written by `dev/coverage.py`; a test compares the names with those of the readers.",
        "[operators.md](operators.md) lists the resulting operators and their devices. [conformance.md](conformance.md) states the agreement",
        "with other implementations. Kelvin may still refuse an operation that it reads, because of an attribute or an element type; the",
        "message then names both the operation and the place.", "",
        "| format | read | refused by design | not yet |", "|---|--:|--:|--:|", *rows, "",
        *sections,
        "## Operators of ONNX Runtime", "",
        f"Read, {len(others)}: " + ", ".join(f"`{name}`" for name in others) + ".", "",
        "## Operators of onnxruntime-extensions", "",
        f"Read, {len(extensions)}: " + ", ".join(f"`{name}`" for name in extensions) + ".", ""]
    PAGE.write_text("\n".join(page).rstrip() + "\n")
    print(re.sub(r"^", "  ", "\n".join(rows), flags=re.M))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
