#!/usr/bin/env bash
# Builds the current commit in two clones in folders of different names, and compares their packages byte by byte.
#
#   dev/package/reproduce.sh [KIND]...      KIND is wheel, deb, tar, bundle or plugin; the default is wheel and deb
#
# The status is 0 if all packages are equal. Each build takes as long as `make wheel` in a new clone.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- wheel deb
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

for name in first-build second; do
  git clone --quiet . "$root/$name"
  make -C "$root/$name" "$@" > "$root/$name.log" 2>&1 || { tail -20 "$root/$name.log" >&2; exit 1; }
done
if diff "$root"/{first-build,second}/.build/packages/SHA256SUMS; then
  cat "$root/second/.build/packages/SHA256SUMS"
else
  echo "$0: the two builds differ; compare them with diffoscope" >&2
  exit 1
fi
