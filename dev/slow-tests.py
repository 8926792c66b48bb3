#!/usr/bin/env python3
"""Print a regular expression for the tests and suites of the second tier, for `swift test --filter`.

A declaration belongs to the tier if the text from its `@Test` or `@Suite` to the next one contains `.slow` or `Tier.`: it runs in
that tier only, or it runs there with more arguments or trials. The expression has its target, its suite and its name.

    dev/slow-tests.py [--part I/N]     one of N parts, which together are all tests
"""
import argparse
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "Tests"
ATTRIBUTE = re.compile(r"^(?P<indent> *)@(?:Test|Suite)\b", re.MULTILINE)
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|[()]')
DECLARATION = re.compile(r"\s*(?:(?:@\w+(?:\([^)]*\))?|package|private|final|static|mutating)\s+)*(?P<kind>func|struct|enum|class|actor)\s+(?P<name>\w+)")
TYPE = re.compile(r"^(?P<indent> *)(?:[@\w().,:=!? ]* )?(?:struct|enum|class|actor|extension) (?:\w+\.)*(?P<name>\w+)", re.MULTILINE)
SLOW = re.compile(r"(?<![\w.])\.slow\b|\bTier\.")


def after_arguments(text, position):
    """The position behind the attribute's arguments in parentheses, if it has any."""
    depth = 0
    if not text.startswith("(", position):
        return position
    for token in TOKEN.finditer(text, position):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return position


def enclosing_type(text, attribute):
    """The name of the innermost type or extension around an attribute."""
    around = [each["name"] for each in TYPE.finditer(text, 0, attribute.start()) if each["indent"] < attribute["indent"]]
    return around[-1] if around else None


def slow_tests(text):
    """The kind, suite and name of each function and type of a source file that belongs to the tier, in order."""
    attributes = list(ATTRIBUTE.finditer(text))
    ends = [attribute.start() for attribute in attributes[1:]] + [len(text)]
    for attribute, end in zip(attributes, ends):
        if SLOW.search(text, attribute.start(), end):
            declaration = DECLARATION.match(text, after_arguments(text, attribute.end()))
            if not declaration:
                line = text.count("\n", 0, attribute.start()) + 1
                raise ValueError(f"line {line}: no function or type follows the test's attribute")
            yield declaration["kind"], enclosing_type(text, attribute), declaration["name"]


def pattern(target, kind, suite, name):
    """The expression of one test, as `swift test list` prints it, or of all tests of a suite."""
    if kind != "func":
        return rf"^{target}\.(?:.*/)?{name}/"
    return rf"^{target}\.(?:.*/)?{suite}/{name}\(" if suite else rf"^{target}\.{name}\("


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="0/1", metavar="I/N")
    part, parts = map(int, parser.parse_args().part.split("/"))
    patterns = set()
    for path in sorted(TESTS.rglob("*.swift")):
        try:
            found = list(slow_tests(path.read_text(encoding="utf-8")))
        except ValueError as error:
            print(f"slow-tests: {path.relative_to(TESTS.parent)}: {error}", file=sys.stderr)
            return 1
        target = path.relative_to(TESTS).parts[0]
        if target != "TestSupport":
            patterns |= {pattern(target, *each) for each in found}
    print("|".join(sorted(patterns)[part % parts::parts]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
