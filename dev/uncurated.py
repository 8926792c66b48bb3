"""Lists the public types of a module that no list of topics of its documentation names; fails where there are any.

    dev/uncurated.py Sources/Kelvin/Kelvin.docc GRAPH.symbols.json...
"""
import json
import pathlib
import re
import sys


def topics(catalog):
    """The names in the lists below the headings `Topics` of a catalog's pages."""
    names = set()
    for page in pathlib.Path(catalog).rglob("*.md"):
        _, _, lists = page.read_text(encoding="utf-8").partition("\n## Topics\n")
        names |= set(re.findall(r"^- ``([^`]+)``$", lists, re.MULTILINE))
    return names


def main(catalog, graphs):
    named = topics(catalog)
    missing = set()
    for path in graphs:
        # The graph of a module's extensions of another module's types, whose pages are not this module's.
        if "@" in pathlib.Path(path).name.removesuffix(".symbols.json") and not is_reexported(path):
            continue
        with open(path, encoding="utf-8") as file:
            for symbol in json.load(file)["symbols"]:
                names = symbol["pathComponents"]
                is_ours = "location" in symbol and "/Sources/Kelvin" in symbol["location"]["uri"]
                if len(names) == 1 and is_ours and "swift.extension" not in symbol["kind"]["identifier"]:
                    missing |= {names[0]} - named
    for name in sorted(missing):
        print(f"no topic of {catalog} names {name}", file=sys.stderr)
    return 1 if missing else 0


def is_reexported(path):
    """Whether a graph `Kelvin@KelvinImages` contains the types of a module that the first one exports."""
    return pathlib.Path(path).name.removesuffix(".symbols.json").partition("@")[2].startswith("Kelvin")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
