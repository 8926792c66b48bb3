"""Finds English in a file, with its lines: paragraphs of Markdown, comments of sources, string literals of Swift.

dev/prose.py checks what this module finds. Code, tables and headings are not prose.
"""
import ast
import dataclasses
import functools
import io
import re
import tokenize

# A sentence ends before white space that a lower-case letter does not follow; abbreviations end no sentence.
SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)[.!?][\"')\]*]*(?=\s+[^a-z\s])")
CODE_SPAN = re.compile(r"(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# A part that a script writes: <!-- counts --> … <!-- end of counts -->.
GENERATED = re.compile(r"<!-- (\w+) -->.*?<!-- end of \1 -->", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<doc:[^>]*>")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
# Headings, tables, images, directives and tags, rules, targets of links.
NOT_PROSE = re.compile(r"^\s*(?:#|\||!\[[^\]]*\]\([^)]*\)\s*$|@\w+|[{}]\s*$|</?\w+[^>]*>\s*$|(?:---+|===+)\s*$|\[[^\]]+\]:\s)")

C_SUFFIXES = (".swift", ".c", ".h", ".comp", ".glsl", ".cl")
HASH_SUFFIXES = (".sh", ".toml", "Makefile", ".ci/run")
COMMENTED = C_SUFFIXES + HASH_SUFFIXES + (".py",)

_NESTED = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
INTERPOLATION = re.compile(rf"\\\(({_NESTED})\)")
C_TOKEN = re.compile(
    rf"""(?P<block>/\*.*?\*/) | (?P<line>//[^\n]*) | (?P<raw>(?P<hashes>\#+)"(?:"".*?"")?.*?"(?P=hashes))
    | "{{3}}(?P<long>.*?)"{{3}} | "(?P<short>(?:\\\({_NESTED}\)|\\.|[^"\\\n])*)" | '(?:\\.|[^'\\\n])'""",
    re.DOTALL | re.VERBOSE)
HASH_COMMENT = re.compile(r"^(?P<before>[^\"'#\n]*?)(?:(?<=\s)|^)#(?!!)(?P<text>.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Paragraph:
    """Consecutive lines of prose, the first at `line`."""
    line: int
    text: str

    @functools.cached_property
    def sentences(self):
        """Line and text of each sentence, on one line, without marks of links and emphasis."""
        text = without_links(self.text)
        text = re.sub(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)
        found, begin = [], 0
        for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
            sentence = text[begin:end]
            if sentence.strip():
                start = begin + len(sentence) - len(sentence.lstrip())
                found.append((self.line + text.count("\n", 0, start), " ".join(sentence.split())))
            begin = end
        return found


def newlines(text, besides=None):
    return "\n" * (text.count("\n") - (besides or "").count("\n"))


def blank(match):
    return newlines(match[0])


def without_links(text):
    """The words of links alone, on as many lines."""
    return LINK.sub(lambda match: (match[1] or "X") + newlines(match[0], besides=match[1]), text)


def word_count(text):
    return sum(bool(re.search(r"\w", word)) for word in text.split())


@functools.cache
def without_code(text):
    """A Markdown document with as many lines, without code, comments and generated parts; a code span is the word X."""
    for pattern in [GENERATED, FENCE, HTML_COMMENT]:
        text = pattern.sub(blank, text)
    lines, in_list, after_blank = [], False, True
    for line in text.split("\n"):
        is_code = line.startswith("    ") and after_blank and not in_list
        if LIST_ITEM.match(line) and not is_code:
            in_list = True
        elif line.startswith("#") or after_blank and not line.startswith(" ") and line:
            in_list = False
        after_blank = is_code or not line.strip()
        lines.append("" if is_code else line)
    return CODE_SPAN.sub(lambda match: "X" + newlines(match[0]), "\n".join(lines))


@functools.cache
def paragraphs(text, first=1):
    """The paragraphs of a Markdown document whose first line has the number `first`; each list item is one of its own."""
    found, lines = [], []

    def finish(number):
        if lines:
            found.append(Paragraph(number - len(lines), "\n".join(lines)))
            lines.clear()

    for number, line in enumerate(without_code(text).split("\n") + [""], first):
        item = LIST_ITEM.match(line)
        is_prose = bool(line.strip()) and not NOT_PROSE.match(line)
        if item or not is_prose:
            finish(number)
        if is_prose:
            lines.append(re.sub(r"^\s*>\s?", "", line[item.end():] if item else line))
    return tuple(found)


@functools.cache
def comments(path, text):
    """The paragraphs of a source's comments; comments on lines that follow one another are one text."""
    return tuple(
        paragraph for line, block in _joined(_comment_lines(path, text)) for paragraph in paragraphs(block, line))


def _comment_lines(path, text):
    """Line, whether it is alone on its line, marker and text of each comment."""
    if path.endswith(".py"):
        yield from _python_comments(text)
    elif path.endswith(HASH_SUFFIXES):
        for match in HASH_COMMENT.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, not match["before"].strip(), "#", match["text"]
    else:
        line, seen = 1, 0
        for match in C_TOKEN.finditer(text):
            line, seen = line + text.count("\n", seen, match.start()), match.start()
            if match["line"]:
                marker = re.match(r"//[/!]?", match["line"])[0]
                alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
                yield line, alone, marker, match["line"][len(marker):]
            elif match["block"]:
                yield line, False, "/*", re.sub(r"(?m)^\s*\*+ ?", "", match["block"].strip("/*!"))


def _python_comments(text):
    try:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
                yield node.body[0].lineno, False, '"""', node.body[0].value.value
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
                yield token.start[0], not token.line[:token.start[1]].strip(), "#", token.string[1:]
    except (SyntaxError, tokenize.TokenError):
        return


def _joined(lines):
    """Comments alone on consecutive lines as one block: its first line and its text."""
    block, begin, last = [], 0, None
    for number, alone, marker, text in lines:
        if block and not (alone and last == (number - 1, marker)):
            yield begin, "\n".join(block)
            block = []
        if not block:
            begin = number
        block.append(text.removeprefix(" "))
        last = (number, marker) if alone else None
    if block:
        yield begin, "\n".join(block)


@functools.cache
def literals(text):
    """The string literals of a Swift source, those inside interpolations too; literals joined by + are one."""
    found, previous, end = [], None, 0
    for match in C_TOKEN.finditer(text):
        literal = match["short"] if match["short"] is not None else match["long"]
        if literal is None:
            continue
        line = text.count("\n", 0, match.start()) + 1
        for inner in INTERPOLATION.finditer(literal):
            found += [Paragraph(line + p.line - 1, p.text) for p in literals(inner[1])]
        plain = INTERPOLATION.sub(lambda inner: "X" + newlines(inner[0]), literal)
        plain = re.sub(r"\\(?:n|t|u\{\w+\}|\n)", lambda escape: "\n" if "\n" in escape[0] else " ", plain).replace('\\"', '"')
        between = text[end:match.start()]
        if previous is not None and re.fullmatch(r"\s*\+\s*", between):
            first = found[previous]
            found[previous] = Paragraph(first.line, first.text + newlines(between) + plain)
        else:
            found.append(Paragraph(line, plain))
            previous = len(found) - 1
        end = match.end()
    return tuple(found)
