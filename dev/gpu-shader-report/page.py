"""Tables in Markdown."""

# Columns of text; the others are numbers.
TEXT = ("kernel", "used by", "beyond a limit", "network", "card", "compiler", "worst", "longest part")


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "|".join("---" if head in TEXT else "--:" for head in heads) + "|")
    for cells in rows:
        print("| " + " | ".join(map(str, cells)) + " |")
