#!/usr/bin/env bash
# Fuzzes every place where bytes from outside come in (Tests/Fuzz/Seams.swift) with libFuzzer under AddressSanitizer.
#
#   dev/fuzz.sh [SECONDS [SEAM…]]      60 seconds each, all seams, unless said; KELVIN_FUZZ_CORPUS keeps what is learnt
#   dev/fuzz.sh --long [RUNS [SEAM…]]  10 000 000 executions each, and a table of what came of them
#
# A finding is left in .build-fuzz/findings and ends the run with status 1. The seeds are the project's own vectors and
# examples and, where they lie beside it, the shared models and pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
bound=-max_total_time
if [ "${1:-}" = --long ]; then
  shift
  bound=-runs
  set -- "${1:-10000000}" "${@:2}"
fi
amount=${1:-60}
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
seed weights Examples -name weight.bin
seed compressed Tests/CompressedWeights/constexpr_ios18.mlpackage -name weight.bin
seed manifest Tests Examples "$shared/models" -name Manifest.json
seed onnx Tests Examples "$shared/models" -name '*.onnx'
seed coreml Tests Examples "$shared/models" -name '*.mlmodel'
seed npy Tests "$shared/expected" -name '*.npy'
seed image Examples Tests "$shared/images" \( -name '*.png' -o -name '*.jpg' -o -name '*.jpeg' -o -name '*.webp' \
  -o -name '*.gif' -o -name '*.bmp' -o -name '*.tif*' -o -name '*.avif' \)
seed envelope Profiles/thermal -name '*.json'
seed workload Profiles/workloads -name '*.json'
seed profile Profiles/devices -name '*.json'
seed plan Tests/Recorded Tests/Golden -name '*plan*.json'
seed graph Tests/Golden/passes -type f
mkdir -p "$corpus"/{problem,plan,profile,blob,journal,graph,link,sensors}
printf 'cpu:vulkan:0=64GB/s,5us' > "$corpus/link/seed-1"
printf '45000\n' > "$corpus/sensors/seed-1"
printf 'coretemp\n' > "$corpus/sensors/seed-2"
printf 'package-0\n' > "$corpus/sensors/seed-3"
printf '{"benchmark":{"_0":{"format":"kelvin-journal","version":1}}}\n' > "$corpus/journal/seed-1"
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
figure() { sed -n "s/^stat::$2: *//p" "$findings/$1.log"; }
printf '| seam | executions | a second | edges | corpus | findings |\n|---|---|---|---|---|---|\n'
for seam in "${seams[@]}"; do
  # A weight says little beyond its headers, which lie at the beginning.
  longest=400000
  [[ $seam = weights || $seam = compressed ]] && longest=160000
  result=none
  # 10 s and 2 GiB under the sanitizer stand for 2 s and 1 GiB without it.
  if ! ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=2 "$fuzz" "$seam" "$bound=$amount" -timeout=10 \
      -rss_limit_mb=2560 -malloc_limit_mb=2048 -max_len="$longest" -print_final_stats=1 -verbosity=1 \
      -artifact_prefix="$findings/$seam-" "$corpus/$seam" > "$findings/$seam.log" 2>&1; then
    failed+=("$seam")
    result=$(grep -oE 'ERROR: [^(]*|Fatal error: .*' "$findings/$seam.log" | head -1)
  fi
  read -r edges units < <(sed -nE 's/.* cov: ([0-9]+) .*corp: ([0-9]+)\/.*/\1 \2/p' "$findings/$seam.log" | tail -1) || true
  printf '| %s | %s | %s | %s | %s | %s |\n' "$seam" "$(figure "$seam" number_of_executed_units)" \
    "$(figure "$seam" average_exec_per_sec)" "${edges:-}" "${units:-}" "${result:-stopped}"
done
rm -rf /dev/shm/kelvin-fuzz-*
[ ${#failed[@]} -eq 0 ] || { echo "found something: ${failed[*]} ($findings)"; exit 1; }
