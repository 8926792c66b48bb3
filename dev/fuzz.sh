#!/usr/bin/env bash
# Fuzzes every place where bytes from outside come in (Tests/Fuzz/Seams.swift) with libFuzzer under AddressSanitizer.
#
#   dev/fuzz.sh [SECONDS [SEAM…]]      60 seconds each, all seams, unless said; KELVIN_FUZZ_CORPUS keeps what is learnt
#
# A finding is left in .build-fuzz/findings and ends the run with status 1. The seeds are the project's own vectors and
# examples and, where they lie beside it, the shared models and pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
scratch=.build-fuzz
corpus=${KELVIN_FUZZ_CORPUS:-$scratch/corpus}
shared=${KELVIN_SHARED:-../shared}

export KELVIN_FUZZ=1
swift build -c release --scratch-path "$scratch" --product Fuzz \
  -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address
fuzz=$scratch/release/Fuzz
seams=("$@")
[ ${#seams[@]} -gt 0 ] || mapfile -t seams < <("$fuzz" --list)

# Seeds are small: a mutation of a weight says nothing about a reader.
seed() {  # seam, then a find expression
  local seam=$1 n=0
  shift
  mkdir -p "$corpus/$seam"
  while IFS= read -r -d '' file; do
    n=$((n + 1))
    cp "$file" "$corpus/$seam/seed-$n"
  done < <(find "$@" -type f -size -256k -print0 2> /dev/null | sort -z)
}
seed onnx Tests Examples -name '*.onnx'
seed coreml Tests Examples "$shared/models" -name '*.mlmodel'
seed weights Examples -name weight.bin
seed compressed Tests/CompressedWeights/constexpr_ios18.mlpackage -name weight.bin
seed manifest Tests Examples "$shared/models" -name Manifest.json
seed npy Tests "$shared/expected" -name '*.npy'
seed image Examples Tests "$shared/images" \( -name '*.png' -o -name '*.jpg' -o -name '*.jpeg' -o -name '*.webp' \
  -o -name '*.gif' -o -name '*.bmp' -o -name '*.tif*' -o -name '*.avif' \)
seed envelope Profiles/thermal -name '*.json'
seed workload Profiles/workloads -name '*.json'
seed profile Profiles/devices -name '*.json'
mkdir -p "$corpus"/{problem,plan,profile,blob}
cat > "$corpus/problem/seed-1" << 'JSON'
{"devices":["cpu","gpu"],"host":"cpu","transfers":[{"from":"cpu","to":"gpu","latency":1e-5,"bytesPerSecond":1e9},
{"from":"gpu","to":"cpu","latency":1e-5,"bytesPerSecond":1e9}],"inputs":[{"value":"x","bytes":4}],"outputs":["z"],
"nodes":[{"id":"a","inputs":["x"],"outputs":[{"value":"y","bytes":4}],"seconds":{"cpu":1,"gpu":0.1}},
{"id":"b","inputs":["y","x"],"outputs":[{"value":"z","bytes":4}],"seconds":{"cpu":0.1}}],
"goal":"latency","pins":{"b":"cpu"},"exclude":[],"memory":{"gpu":100}}
JSON
printf '{"format":"kelvin-profile","version":1,"machine":{},"devices":[{"id":"cpu","name":"c","driver":"d","version":"1"}],"nodes":{}}' \
  > "$corpus/profile/seed-1"
printf '{"version":1,"goal":"latency","nodes":[{"name":"a","device":"cpu"}],"model":{},"machine":{}}' > "$corpus/plan/seed-1"

findings=$scratch/findings
mkdir -p "$findings"
failed=()
for seam in "${seams[@]}"; do
  echo "== $seam for $seconds s"
  # 10 s and 2 GiB under the sanitizer stand for 2 s and 1 GiB without it.
  if ! ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 "$fuzz" "$seam" -max_total_time="$seconds" -timeout=10 \
      -rss_limit_mb=2560 -malloc_limit_mb=2048 -max_len=400000 -print_final_stats=1 -verbosity=1 \
      -artifact_prefix="$findings/$seam-" "$corpus/$seam" > "$findings/$seam.log" 2>&1; then
    failed+=("$seam")
    grep -E 'ERROR|SUMMARY|Fatal error|Test unit written' "$findings/$seam.log" | head -5
  fi
  grep -E 'stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)' "$findings/$seam.log" || true
  grep -E 'cov: ' "$findings/$seam.log" | tail -1 || true
done
rm -rf /dev/shm/kelvin-fuzz-*
[ ${#failed[@]} -eq 0 ] || { echo "found something: ${failed[*]} ($findings)"; exit 1; }
