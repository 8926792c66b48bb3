#!/usr/bin/env bash
# The C library as an archive of one object, with Swift's runtime in it, for programs of C and Swift:
#
#   dev/package/static-library.sh OUT.a
#
# Needs `swift build -c release --product KelvinC`. A program may have a Swift runtime of its own: only the functions of
# kelvin.h stay visible, and the sections in which a runtime looks for types and conformances get names that no other
# looks for. https://github.com/swiftlang/swift/blob/main/stdlib/public/runtime/SwiftRT-ELF-WASM.cpp lists them.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$1
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
libraries=$(swiftc -print-target-info -static-stdlib | python3 -c \
  'import json, sys; print(json.load(sys.stdin)["paths"]["runtimeResourcePath"])')/linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The archive of libcrypto has this as a common symbol, which cannot be made local.
echo 'unsigned OPENSSL_ia32cap_P[4] __attribute__((visibility("hidden")));' | cc -c -x c - -o "$work/common.o"
"$tools/ld.lld" -r --force-group-allocation --strip-debug -o "$work/linked.o" \
  @.build/release/KelvinC.product/Objects.LinkFileList "$work/common.o" "$libraries/$(uname -m)/swiftrt.o" \
  -L"$libraries" -L"/usr/lib/$(uname -m)-linux-gnu" --start-group -lFoundationEssentials -l_FoundationCShims \
  -l_FoundationCollections -lswiftCore -lswift_Concurrency -lswift_StringProcessing -lswift_RegexParser \
  -lswiftSynchronization -lswiftGlibc -lswiftDispatch -ldispatch -lBlocksRuntime -lswift_Builtin_float -lswiftRuntime \
  -l:libcrypto.a -l:libz.a --end-group

renamed=()
for section in $(readelf -SW "$work/linked.o" | grep -oE ' swift5_[a-z_0-9]+' | sort -u); do
  own=kelvin_$section
  renamed+=(--rename-section "$section=$own")
  for end in start stop; do renamed+=(--redefine-sym "__${end}_$section=__${end}_$own"); done
done
"$tools/llvm-objcopy" "${renamed[@]}" --wildcard --keep-global-symbol='kelvin_*' --strip-unneeded \
  "$work/linked.o" "$work/kelvin.o"
rm -f "$out"
"$tools/llvm-ar" rcsD "$out" "$work/kelvin.o"
