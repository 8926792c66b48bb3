#!/usr/bin/env python3
"""The rules of English that a program can check, each a function from a tree of files to the complaints about it.

  dev/prose.py                 every rule on every tracked file; the status is 1 where there is a complaint
  dev/prose.py PATH...         every rule on these files and folders, untracked files included
  dev/prose.py --rule NAME     this rule alone; may be given several times
  dev/prose.py --summary       the number of complaints for each rule and folder

dev/check.sh runs the rules; dev/planted_faults.py proves that each rule sees what it forbids.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

import prose_reader as reader
import source_rules

MEAN_WORDS = 20
LONG_SENTENCE, LONG_SHARE = 35, 0.05
PARAGRAPH_WORDS = 120
# A paragraph of so few words is a label or an item of a list, and says nothing about the length of sentences.
FRAGMENT_WORDS = 8
SUBJECT_LENGTH = 72
# Characters of a sentence that a complaint shows.
SHOWN = 60
LINE_LIMITS = {"README.md": 150, "Architecture.md": 200}
DESIGN = "docs/design/"
DESIGN_WORDS = 1500

DOCUMENTS = {
    "README.md", "Python/README.md", "Architecture.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md"}
GENERATED_DOCUMENTS = {"docs/coverage.md", "docs/gpu-shader-report.md", "docs/operators.md"}
COMMENTED_PLACES = (
    "Sources/", "Tests/", "dev/", "bench/", "Shaders/", "Examples/", "Frameworks/", "Plugin/", "Python/", ".ci/", "Makefile",
    "Package.swift")

OPENING = re.compile(r"(?:What|Whatever|Who|Whoever|Where|Those|Such|That which|Of which)\b")
# A comment may be a fragment that begins in lower case, and a documented parameter begins behind its name.
COMMENT_OPENING = re.compile(rf"(?:(?:Parameter )?\w+: )?(?P<opening>{OPENING.pattern})", re.IGNORECASE)
IS_NO = re.compile(
    r"(?<!\bthere )\b(?:is|are|was|were|be) no (?!(?:longer|more|less|fewer|larger|smaller|other|need|reason|way)\b)\w+",
    re.IGNORECASE)
# SQL names the tables and columns of an index's format.
SQL = re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX|VIRTUAL)|JOIN|WHERE|PRAGMA) ")
FIGURE = re.compile(
    r"(?<![\w.])\d[\d.,]*(?:[\s-]?(?:ns|ms|[uµμ]s|s|kB|[KMG]i?B(?:/s)?|GFLOP/s|%)(?!\w)|\s?×(?!\s?\d)| times as\b)")
LIMIT_MARK = "<!-- figure: limit -->"
# Words that the field has another term for: a pattern, and the term.
TERMS = {
    r"pictures?": "image",
    r"walk(?:s|ed|ing)": "execute, iterate, interpret",
    r"lends?|lent|lending|lenders?": "borrow; a buffer that the library owns",
    r"spell(?:s|ed|ing)? out|spelt out": "decompose",
    r"outages?": "failover",
    r"outlast(?:s|ed|ing)": "fall back",
    r"uneven control flow": "dynamic-shape control flow",
    r"trip by trip|loop trips?": "iteration",
    r"seams?": "fuzz target",
    r"graveyards?": "leaked resources",
    r"fresh memory": "poisoned memory",
    r"likeness(?:es)?": "similarity",
    r"contestants?": "candidate",
    r"coded weights?": "quantized weights, palettized weights",
    r"host steps?": "host operation",
    r"padded pasts?": "KV cache",
    r"handicaps?": "extra cost",
}
# Phrases that hide in messages what is wrong: a pattern, and a plain phrase.
PHRASES = {
    r"(?<!-)trips?": "iteration",
    r"lies?|lying": "is, has, does not fit",
    r"anew": "again",
    r"nobody": "name the subject, or use 'not'",
    r"(?:means?|says?) nothing": "is not known, does not apply",
    r"(?<!there )(?:is|are) none(?! of them)": "is not a …",
    r"of no (?:known|kind|such)": "unknown",
    r"for want of": "because … is missing",
    r"what (?:is|it is) (?:there|for)|how (?:many|large) (?:there are|that is|it is)": "name it: the number, the size, the role",
}


def alternatives(terms):
    """A pattern with a numbered group for each term."""
    return re.compile("|".join(rf"(?P<t{number}>\b(?:{term})\b)" for number, term in enumerate(terms)), re.IGNORECASE)


TERM, MESSAGE_TERM = alternatives(TERMS), alternatives(TERMS | PHRASES)
SUBJECT = re.compile(r"[a-z][\w./+-]*(?:, [a-z][\w./+-]*)*: (?P<verb>[a-z][\w-]*)\b")
# First words that no imperative has, and imperatives that end as other forms do.
NOT_IMPERATIVE = re.compile(r"(?:.*(?:ed|ing|[^s]s)|a|an|all|any|every|each|it|its|no|not|some|the|this|what|where|who)$")
IMPERATIVES = {"alias", "bias", "bring", "embed", "feed", "focus", "need", "seed", "shed", "speed", "string"}


def documents(tree):
    """Path and paragraphs of each document that people write."""
    for path in tree.files:
        is_page = path.endswith(".md") and (path.startswith("docs/") or path.startswith("Sources/") and ".docc/" in path)
        if path in DOCUMENTS or is_page and path not in GENERATED_DOCUMENTS:
            yield path, reader.paragraphs(tree.text(path))


def commented(tree):
    """Path and comments of each source that people write."""
    for path in tree.files:
        if path.startswith(COMMENTED_PLACES) and path.endswith(reader.COMMENTED) and "/Generated/" not in path:
            yield path, reader.comments(path, tree.text(path))


def messages(tree):
    """Path and messages of each source of Swift: the literals of more than one word that are not SQL."""
    for path in tree.under("Sources", ".swift"):
        if "/Generated/" not in path:
            literals = reader.literals(tree.text(path))
            yield path, [literal for literal in literals if " " in literal.text.strip() and not SQL.search(literal.text)]


def sentences(paragraphs):
    return [sentence for paragraph in paragraphs for sentence in paragraph.sentences]


def opening(sentence, pattern=OPENING):
    """The match of an opening that hides the subject; a question may have one."""
    return None if sentence.endswith("?") else pattern.match(sentence)


def sentence_length(tree):
    for path, paragraphs in documents(tree):
        counts = [
            (line, count) for line, text in sentences(p for p in paragraphs if reader.word_count(p.text) > FRAGMENT_WORDS)
            if (count := reader.word_count(text)) > 2]
        if not counts:
            continue
        mean = sum(count for _, count in counts) / len(counts)
        if mean > MEAN_WORDS:
            yield f"{path}:1: sentences have {mean:.1f} words on average, {MEAN_WORDS} at most"
        long = [(line, count) for line, count in counts if count > LONG_SENTENCE]
        if len(long) > LONG_SHARE * len(counts):
            share = f"{100 * len(long) / len(counts):.0f} % of the sentences have more than {LONG_SENTENCE}"
            for line, count in long:
                yield f"{path}:{line}: a sentence of {count} words; {share}, {100 * LONG_SHARE:.0f} % at most"


def paragraph_length(tree):
    for path, paragraphs in documents(tree):
        for paragraph in paragraphs:
            count = reader.word_count(paragraph.text)
            if count > PARAGRAPH_WORDS:
                yield f"{path}:{paragraph.line}: a paragraph of {count} words, {PARAGRAPH_WORDS} at most"


def document_size(tree):
    for path in tree.files:
        lines = tree.text(path).splitlines() if path in LINE_LIMITS else []
        if path in LINE_LIMITS and len(lines) > LINE_LIMITS[path]:
            yield f"{path}:{LINE_LIMITS[path] + 1}: {len(lines)} lines, {LINE_LIMITS[path]} at most"
        if path.startswith(DESIGN) and path.endswith(".md"):
            count = reader.word_count(reader.without_code(tree.text(path)))
            if count > DESIGN_WORDS:
                yield f"{path}:1: {count} words, {DESIGN_WORDS} at most: move detail to a page of its own"


def document_openings(tree):
    for path, paragraphs in documents(tree):
        for line, sentence in sentences(paragraphs):
            match = opening(sentence)
            if match:
                yield f"{path}:{line}: a sentence opens with '{match[0]}': {sentence[:SHOWN]}"


def comment_openings(tree):
    for path, paragraphs in commented(tree):
        for paragraph in paragraphs:
            for number, (line, sentence) in enumerate(paragraph.sentences):
                match = opening(sentence, COMMENT_OPENING)
                if match and (number == 0 or match["opening"][0].isupper()):
                    yield f"{path}:{line}: a comment opens with '{match['opening']}': {sentence[:SHOWN]}"


def message_openings(tree):
    for path, literals in messages(tree):
        for line, sentence in sentences(literals):
            match = opening(sentence)
            if match:
                yield f"{path}:{line}: a message opens with '{match[0]}': {sentence[:SHOWN]}"


def negated_nouns(tree):
    for path, literals in messages(tree):
        for line, sentence in sentences(literals):
            for match in IS_NO.finditer(sentence):
                yield f"{path}:{line}: '{match[0]}': say 'is not a valid …' or 'must be …'"


def figures_in_design(tree):
    for path in tree.files:
        if path == "Architecture.md" or path.startswith(DESIGN) and path.endswith(".md"):
            text = tree.text(path)
            for number, (plain, line) in enumerate(zip(reader.without_code(text).split("\n"), text.split("\n")), 1):
                for match in FIGURE.finditer(plain) if LIMIT_MARK not in line else []:
                    yield f"{path}:{number}: the figure '{match[0]}' belongs in bench/results; a limit is marked by {LIMIT_MARK}"


def terms_in(path, lines, pattern=TERM):
    terms = list((TERMS | PHRASES).values())
    for line, text in lines:
        for match in pattern.finditer(text):
            yield f"{path}:{line}: '{match[0]}': the term is '{terms[int(match.lastgroup[1:])]}'"


def document_terms(tree):
    """In headings and tables too."""
    for path, _ in documents(tree):
        text = reader.without_links(reader.without_code(tree.text(path)))
        yield from terms_in(path, enumerate(text.split("\n"), 1))


def comment_terms(tree):
    for path, paragraphs in commented(tree):
        yield from terms_in(path, sentences(paragraphs))


def message_terms(tree):
    for path, literals in messages(tree):
        yield from terms_in(path, sentences(literals), MESSAGE_TERM)


def commit_subjects(tree):
    for commit, subject in tree.commits:
        if subject.startswith('Revert "'):
            continue
        match = SUBJECT.match(subject)
        if len(subject) > SUBJECT_LENGTH:
            yield f"commit {commit}: a subject of {len(subject)} characters, {SUBJECT_LENGTH} at most: {subject}"
        if not match or NOT_IMPERATIVE.match(match["verb"]) and match["verb"] not in IMPERATIVES:
            yield f"commit {commit}: '{subject}' has not the form 'area: imperative'"


RULES = [
    sentence_length, paragraph_length, document_size, document_openings, comment_openings, message_openings, negated_nouns,
    figures_in_design, document_terms, comment_terms, message_terms, commit_subjects,
]


def narrowed(tree, paths):
    """The tree with the files under these paths alone, untracked ones included, and without commits."""
    names = [str(pathlib.Path(path).resolve().relative_to(tree.root.resolve())) for path in paths]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *names],
        cwd=tree.root, check=True, capture_output=True, text=True).stdout
    tree = tree.planted(commits=[])
    tree.files = sorted(path for path in listed.split("\0") if path)
    return tree


def folder(complaint):
    """By what --summary counts: Sources/KelvinCPU, docs/design, README.md, commit."""
    path = complaint.split(":")[0]
    if path.startswith("commit "):
        return "commits"
    return "/".join(path.split("/")[:2]) if path.count("/") > 1 else path.split("/")[0]


def summary(complaints):
    counts = collections.Counter((rule, folder(complaint)) for rule, complaint in complaints)
    for rule in dict.fromkeys(rule for rule, _ in complaints):
        own = {name: count for (other, name), count in counts.items() if other == rule}
        yield f"{rule:<32}{sum(own.values()):>6}"
        yield from (f"  {name:<30}{count:>6}" for name, count in sorted(own.items(), key=lambda item: (-item[1], item[0])))


def main():
    parser = argparse.ArgumentParser(description="Check the English of documents, comments, messages and commit subjects.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders to check, the whole project otherwise")
    parser.add_argument(
        "--rule", action="append", choices=[rule.__name__ for rule in RULES], metavar="NAME",
        help="run this rule alone: " + ", ".join(rule.__name__ for rule in RULES))
    parser.add_argument("--summary", action="store_true", help="count complaints by rule and folder")
    arguments = parser.parse_args()
    for path in arguments.paths:
        if not pathlib.Path(path).exists():
            parser.error(f"'{path}' does not exist")
    tree = source_rules.Tree(pathlib.Path(__file__).parent.parent)
    if arguments.paths:
        tree = narrowed(tree, arguments.paths)
    rules = [rule for rule in RULES if not arguments.rule or rule.__name__ in arguments.rule]
    complaints = [(rule.__name__, complaint) for rule in rules for complaint in rule(tree)]
    for line in summary(complaints) if arguments.summary else (complaint for _, complaint in complaints):
        print(line)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
