"""Lists the public symbols without documentation in symbol graphs; fails where there are any."""
import json
import sys


def is_ours(symbol):
    """Not made by the compiler, and not what the standard library gives to a type that conforms to its protocols."""
    identifier = symbol["identifier"]["precise"]
    if "::SYNTHESIZED::" in identifier:
        return False
    uri = symbol.get("location", {}).get("uri", "")
    return "/Sources/Kelvin" in uri or "/Frameworks/Sources/" in uri


def main(paths):
    missing = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            graph = json.load(file)
        inherited = {
            relation["source"] for relation in graph["relationships"]
            if "sourceOrigin" in relation or relation["kind"] in ("defaultImplementationOf", "optionalRequirementOf")
        }
        for symbol in graph["symbols"]:
            if symbol.get("docComment") or not is_ours(symbol) or symbol["identifier"]["precise"] in inherited:
                continue
            location = symbol["location"]
            place = location["uri"].split("/Sources/")[-1]
            missing.add(f"{place}:{location['position']['line'] + 1}: {'.'.join(symbol['pathComponents'])}")
    for line in sorted(missing):
        print(f"undocumented: {line}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
