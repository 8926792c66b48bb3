#!/usr/bin/env bash
# Compiles Python/calls, the C part of the Python package: dev/package/calls.sh [OUT]
#
# The default OUT is the path at which the package in these sources looks for it. The module works with every Python
# from 3.9 on that has a stable ABI and every NumPy from 1.23 on, and needs the headers of neither; without it the
# package calls the library through ctypes.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-Python/kelvin/_calls.abi3.so}
"${CC:-clang}" -std=gnu2x -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -fno-plt -fno-ident \
  -Wl,--strip-all -Wl,-soname,_calls.abi3.so -ISources/CKelvin/include -o "$out" Python/calls/calls.c
