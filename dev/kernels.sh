#!/usr/bin/env bash
# Checks every kernel of every instruction set against plain loops (Tests/KernelChecks), on random shapes: the release
# build, with AddressSanitizer and UndefinedBehaviorSanitizer, and for aarch64 under qemu-user, on a processor with
# 8-bit dot products and on one without. Needs clang and lld of the Swift toolchain. A part whose tools are missing is
# skipped with a message.
#
#   dev/kernels.sh [--seeds N] [--first SEED] [--only native|sanitized|aarch64]…
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=1
first=1
parts=()
while [ $# -gt 0 ]; do
  case "$1 ${2:-}" in
    "--seeds "[0-9]*) seeds=$2 ;;
    "--first "[0-9]*) first=$2 ;;
    "--only native" | "--only sanitized" | "--only aarch64") parts+=("$2") ;;
    *) sed -n '/^#   /s/^# *//p' "$0" >&2; exit 64 ;;
  esac
  shift 2
done
[ ${#parts[@]} -gt 0 ] || parts=(native sanitized aarch64)
cross=/usr/aarch64-linux-gnu

# The flags of SwiftPM's release builds for Package.swift.
flags=(-std=gnu2x -O2 -g -fno-omit-frame-pointer -Wall -Wextra -Werror -ISources/CKelvinKernels/include)
flags+=(-ITests/KernelChecks/include)

# Sources of both folders are compiled again if one has changed, the largest first, so that no processor is left with
# one of them at the end.
build() {  # part, compiler flags, --, linker flags
  local folder=.build-kernels/$1 own=() sources=(Sources/CKelvinKernels/*.c Tests/KernelChecks/*.c)
  shift
  while [ "$1" != -- ]; do own+=("$1"); shift; done
  shift
  [ ! -x "$folder/check" ] \
    || [ -n "$(find Sources/CKelvinKernels Tests/KernelChecks "$0" -newer "$folder/check" -print -quit)" ] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  { grep -lZ '"kernels.h"' "${sources[@]}"; grep -LZ '"kernels.h"' "${sources[@]}"; } \
    | xargs -0 -P "$(nproc)" -I{} bash -c 'exec clang "${@:3}" -c "$1" -o "$2/${1//\//_}.o"' compile {} "$folder" \
      "${flags[@]}" "${own[@]}"
  clang "${own[@]}" -fuse-ld=lld "$folder"/*.o -o "$folder/check" "$@"
}

check() {  # part, command that runs it
  local part=$1
  shift
  echo "== $part"
  "$@" ".build-kernels/${part%% *}/check" "$seeds" "$first"
}

check_native() {
  build native -- -lm
  check native
}

check_sanitized() {
  build sanitized -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -- -lm
  check sanitized
}

check_aarch64() {
  local missing=()
  [ "$(uname -m)" != aarch64 ] || { echo "== aarch64 left out: the machine itself is one"; return; }
  command -v qemu-aarch64 > /dev/null || missing+=(qemu-user)
  [ -e $cross/lib/libc.so ] || missing+=(libc6-dev-arm64-cross)
  if [ ${#missing[@]} -gt 0 ]; then
    echo "== aarch64 left out: needs the Debian packages ${missing[*]}"
    return
  fi
  # No library of GCC is linked, so none of its packages is needed.
  build aarch64 --target=aarch64-linux-gnu -isystem $cross/include -mno-outline-atomics -- \
    -nostdlib -L$cross/lib -Wl,-dynamic-linker,/lib/ld-linux-aarch64.so.1 \
    $cross/lib/crt1.o $cross/lib/crti.o -lm -lc $cross/lib/crtn.o
  check "aarch64 with dot products" qemu-aarch64 -cpu max -L $cross
  check "aarch64 without them" qemu-aarch64 -cpu cortex-a53 -L $cross
}

if ! command -v clang > /dev/null || ! command -v ld.lld > /dev/null; then
  echo "kernels.sh: left out: clang and ld.lld are not on the path"
  exit 0
fi
for part in "${parts[@]}"; do "check_$part"; done
