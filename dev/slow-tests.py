#!/usr/bin/env python3
"""Print a regular expression for the tests and suites of the second tier, for `swift test --filter`.

A declaration is found by `@Test` or `@Suite` with `.slow` or `Tier` among its arguments, and by the name of the function or type behind it.
"""
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "Tests"
ATTRIBUTE = re.compile(r"@(?:Test|Suite)\((?P<arguments>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
DECLARATION = re.compile(r"\s*(?:(?:@\w+(?:\([^)]*\))?|package|private|final|static|mutating)\s+)*(?P<kind>func|struct|enum|class|actor)\s+(?P<name>\w+)")
SLOW = re.compile(r"(?<![\w.])\.slow\b|\bTier\.")


def slow_tests(text):
    """The functions and types of a source file that are tagged, in order."""
    for attribute in ATTRIBUTE.finditer(text):
        if SLOW.search(attribute["arguments"]):
            declaration = DECLARATION.match(text, attribute.end())
            if not declaration:
                line = text.count("\n", 0, attribute.start()) + 1
                raise ValueError(f"line {line}: no function or type follows the test's attribute")
            yield declaration["kind"], declaration["name"]


def main():
    patterns = set()
    for path in sorted(TESTS.rglob("*.swift")):
        try:
            found = list(slow_tests(path.read_text(encoding="utf-8")))
        except ValueError as error:
            print(f"slow-tests: {path.relative_to(TESTS.parent)}: {error}", file=sys.stderr)
            return 1
        patterns |= {rf"/{name}\(" if kind == "func" else rf"[./]{name}/" for kind, name in found}
    print("|".join(sorted(patterns)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
