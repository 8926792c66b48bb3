#!/usr/bin/env python3
"""Writes a DocC catalog with the guide, the reference pages, the design and the decisions: dev/guide_catalog.py FOLDER

Pages get unique names. Links between pages become links of DocC, and links to other files become code spans with the file's path.
The script fails for a link to a file or a heading that does not exist.
"""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LANDING = "KelvinGuide"
# The headings of the landing page, and the pages below each.
TOPICS = (
    ("Essentials", ("docs/guide/README.md", "Architecture.md", "docs/Glossary.md")),
    ("Tutorials", (
        "docs/guide/tutorials/first-model.md", "docs/guide/tutorials/choose-compute-units.md", "docs/guide/tutorials/*.md")),
    ("How-to", ("docs/guide/how-to/README.md", "docs/guide/how-to/*.md")),
    ("Background", ("docs/guide/background/*.md",)),
    ("Reference", ("docs/*.md",)),
    ("Design", ("docs/design/*.md",)),
    ("Development", ("docs/development/*.md",)),
    ("Decisions", ("docs/decisions/*.md",)),
)
IMAGE_ENDINGS = {".png", ".jpg", ".svg"}
FENCE = re.compile(r"^(?P<fence>```.*?^```[^\n]*\n?)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def pages():
    """The pages of each topic, each page once."""
    seen = set()
    for topic, patterns in TOPICS:
        found = []
        for pattern in patterns:
            found += [path for path in sorted(ROOT.glob(pattern)) if path not in seen]
            seen.update(found)
        if found:
            yield topic, found


def page_name(path):
    """The name of a page in the catalog: docs/guide/how-to/plan.md is how-to-plan."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    while len(parts) > 1 and parts[0] in ("docs", "guide"):
        parts.pop(0)
    if len(parts) > 1 and parts[-1] == "README":
        parts.pop()
    return "guide" if parts == ["README"] else "-".join(parts)


def plain(heading):
    """A heading without its markup."""
    return re.sub(r"[`*]", "", LINK.sub(r"\g<text>", heading)).strip()


def anchors(path):
    """The anchor of each heading on GitHub, and the same heading's anchor in DocC."""
    found = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *$", FENCE.sub("", path.read_text()), re.MULTILINE):
        words = plain(heading)
        on_github = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.setdefault(on_github, re.sub(r"\s+", "-", words))
    return found


class Catalog:
    """The pages to write to the catalog."""

    def __init__(self, folder):
        self.folder = folder
        self.topics = list(pages())
        self.names = {path: page_name(path) for _, paths in self.topics for path in paths}
        self.complaints = []
        assert len(set(self.names.values())) == len(self.names), "two pages have one name"

    def link(self, match, page):
        """Returns a link in DocC's form."""
        image, text, target = match["image"], match["text"], match["target"]
        if re.match(r"[a-z]+:", target):
            return match[0]
        path, _, anchor = target.partition("#")
        resolved = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
        if not resolved.exists():
            self.complaints.append(f"{page.relative_to(ROOT)}: '{target}' does not exist")
            return text
        if image:
            shutil.copyfile(resolved, self.folder / resolved.name)
            return f"![{text}]({resolved.name})"
        if resolved in self.names:
            return self.page_link(page, resolved, text, anchor)
        place = f"`{resolved.relative_to(ROOT)}`"
        is_the_place = text.strip("`") in (str(resolved.relative_to(ROOT)), resolved.name, resolved.stem)
        return place if is_the_place else f"{text} ({place})"

    def page_link(self, page, target, text, anchor):
        """A link to a page of the catalog, or to a heading of one."""
        place = f"doc:{self.names[target]}"
        if anchor:
            headings = anchors(target)
            if anchor not in headings:
                self.complaints.append(f"{page.relative_to(ROOT)}: {target.name} has no heading '#{anchor}'")
                return text
            place += f"#{headings[anchor]}"
        return f"[{text}]({place})"

    def rewritten(self, page):
        """The text of a page, its code blocks unchanged."""
        parts = FENCE.split(page.read_text())
        for number in range(0, len(parts), 2):
            prose = COMMENT.sub("", parts[number])
            prose = LINK.sub(lambda match: self.link(match, page), prose)
            # DocC reads two backticks as a link to a symbol, and @ at the start of a line as a directive.
            prose = re.sub(r"(?<!`)``(?!`)", "`", prose)
            parts[number] = re.sub(r"^@", r"\\@", prose, flags=re.MULTILINE)
        return "".join(parts)

    def landing(self):
        """The page at the root, with every other page below a topic."""
        lines = [
            "# Kelvin guide", "", "@Metadata {", "  @TechnologyRoot", "}", "",
            "Run Core ML and ONNX models on Linux, choose compute units, and measure.", "", "## Topics"]
        for topic, paths in self.topics:
            lines += ["", f"### {topic}", "", *(f"- <doc:{self.names[path]}>" for path in paths)]
        return "\n".join(lines) + "\n"

    def write(self):
        """Writes everything; returns the complaints."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path, name in self.names.items():
            (self.folder / f"{name}.md").write_text(self.rewritten(path))
        (self.folder / f"{LANDING}.md").write_text(self.landing())
        return self.complaints


def main():
    if len(sys.argv) != 2:
        print("usage: dev/guide_catalog.py FOLDER", file=sys.stderr)
        return 64
    complaints = Catalog(pathlib.Path(sys.argv[1])).write()
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
