#!/usr/bin/env python3
"""Writes Sources/CKelvinKernels/Generated/ck_normal_tail.h: the normal distribution's upper tail, erfc(z / sqrt(2)) / 2, in
segments of equal width from 0 to LIMIT, on each a polynomial through Chebyshev's nodes in the place within it.

    python3 dev/generate-normal-tail.py            # writes the file
    python3 dev/generate-normal-tail.py --check    # writes nothing; status 1 where the file is another
"""

import math
import pathlib
import struct
import sys

SEGMENTS = 32
LIMIT = 5.5
DEGREE = 5
# The largest relative error of the tail, with float32 coefficients and exact sums.
WORST = 5e-7
TARGET = pathlib.Path(__file__).parent.parent / "Sources/CKelvinKernels/Generated/ck_normal_tail.h"


def tail(z):
    return 0.5 * math.erfc(z / math.sqrt(2))


def rounded(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def solve(rows):
    """The unknowns of linear equations, each a row that ends in its right side."""
    count = len(rows)
    for column in range(count):
        best = max(range(column, count), key=lambda row: abs(rows[row][column]))
        rows[column], rows[best] = rows[best], rows[column]
        for row in range(count):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column])]
    return [rows[i][count] / rows[i][i] for i in range(count)]


def segment(index):
    nodes = [0.5 - 0.5 * math.cos(math.pi * (2 * i + 1) / (2 * DEGREE + 2)) for i in range(DEGREE + 1)]
    width = LIMIT / SEGMENTS
    rows = [[u**j for j in range(DEGREE + 1)] + [tail((index + u) * width)] for u in nodes]
    polynomial = [rounded(c) for c in solve(rows)]
    for i in range(201):
        value = sum(c * (i / 200) ** j for j, c in enumerate(polynomial))
        assert abs(value / tail((index + i / 200) * width) - 1) < WORST, index
    return polynomial


def literal(x):
    """Formats a number in hexadecimal, without digits beyond float32."""
    digits, exponent = x.hex().split("p")
    return f"{digits.rstrip('0')}p{exponent}f".replace(".p", ".0p")


def text():
    polynomials = [segment(index) for index in range(SEGMENTS)]
    lines = [
        "/* Written by dev/generate-normal-tail.py. */", "#pragma once", "",
        f"enum {{ normal_tail_segments = {SEGMENTS}, normal_tail_degree = {DEGREE} }};",
        f"static const float normal_tail_limit = {literal(LIMIT)};",
        "/* By power of the place in a segment, and by segment. */",
        "static const float normal_tail[normal_tail_degree + 1][normal_tail_segments] = {"]
    for power in range(DEGREE + 1):
        row = [literal(polynomial[power]) for polynomial in polynomials]
        chunks = [", ".join(row[i:i + 6]) for i in range(0, SEGMENTS, 6)]
        lines += ["  {" + ",\n    ".join(chunks) + "},"]
    return "\n".join(lines + ["};", ""])


def main():
    if "--check" in sys.argv[1:]:
        sys.exit(TARGET.read_text() != text())
    TARGET.write_text(text())


if __name__ == "__main__":
    main()
