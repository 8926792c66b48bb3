#!/usr/bin/env bash
# Fuzzes every interface that reads external bytes (Tests/FuzzTargets) with libFuzzer under AddressSanitizer.
#
#   dev/fuzz.sh [SECONDS [TARGET…]]      the default is 60 seconds for each of all targets; then the table
#   dev/fuzz.sh --long [RUNS [TARGET…]]  until each target was executed 10 000 000 times in total, in turns of five
#   minutes
#   dev/fuzz.sh --table                  the executions so far
#
# The corpus and the number of executions of each target are kept in $KELVIN_FUZZ_CORPUS (.build-fuzz/corpus), so that a
# long run can be interrupted and continued; without the folder everything starts again. A finding is written to
# .build-fuzz/findings, removes its target from the long run and makes the run end with status 1. $KELVIN_SCRATCH
# replaces .build-fuzz for builds.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
scratch=${KELVIN_SCRATCH:-.build-fuzz}
corpus=${KELVIN_FUZZ_CORPUS:-$scratch/corpus}
findings=$scratch/findings
fuzz=$scratch/release/Fuzz
mkdir -p "$findings" "$corpus"

# A target's file: total executions and processor seconds, then edges, inputs and findings of the last turn.
kept() { cat "$corpus/$1.count" 2> /dev/null || echo 0 0 0 0 none; }

table() {
  local target runs seconds edges inputs result this
  printf '| target | executions | this run | a processor second | edges | corpus | findings |\n'
  printf '|---|--:|--:|--:|--:|--:|---|\n'
  for target in "$@"; do
    read -r runs seconds edges inputs result <<< "$(kept "$target")"
    this=$((runs - ${before[$target]:-$runs}))
    printf '| %s | %d | %d | %d | %d | %d | %s |\n' "$target" "$runs" "$this" \
      "$(awk -v runs="$runs" -v seconds="$seconds" 'BEGIN { print int((seconds > 0) ? runs / seconds : 0) }')" \
      "$edges" "$inputs" "$result"
  done
}

# A turn of a target: its name, the longest input, and libFuzzer's bound.
turn() {
  local target=$1 longest=$2 bound=$3 log=$findings/$1.log result=none runs seconds edges inputs took executed
  mkdir -p "$corpus/$target"
  "$fuzz" --seeds "$target" "$corpus/$target"
  # 30 s and 2 GiB under the sanitizer on a shared machine correspond to 2 s and 1 GiB.
  local TIMEFORMAT='%U %S'
  # Swift's crash handler would read memory that the sanitizer protects.
  export VIPS_CONCURRENCY=1 SWIFT_BACKTRACE=enable=no
  took=$({ time "$fuzz" "$target" "$bound" -max_len="$longest" -timeout=30 -rss_limit_mb=2560 \
    -malloc_limit_mb=2048 -reload=0 -detect_leaks=0 -trace_malloc=0 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$findings/$target-" "$corpus/$target" > "$log" 2>&1; } 2>&1) || result=failed
  if [ $result = failed ]; then
    result=$(grep -oE 'ERROR: [^(]*|Fatal error: .*|ALARM: .*' "$log" | head -1) || result=stopped
    failed=1
  fi
  read -r runs seconds edges inputs _ <<< "$(kept "$target")"
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
  runs=$((runs + ${executed:-0}))
  seconds=$(awk -v seconds="$seconds" -v took="$took" 'BEGIN { split(took, t); print seconds + t[1] + t[2] }')
  read -r edges inputs < <(sed -nE 's/.* cov: ([0-9]+) .*corp: ([0-9]+)\/.*/\1 \2/p' "$log" | tail -1) || true
  echo "$runs $seconds ${edges:-0} ${inputs:-0} $result" > "$corpus/$target.count"
}

declare -A longest before
listed=() rest=() waiting=()
failed=

# Removes the shared memory of ended processes.
sweep() {
  local folder
  for folder in /dev/shm/kelvin-fuzz-*; do
    [ ! -d "$folder" ] || [ -d "/proc/${folder##*-}" ] || rm -rf "$folder"
  done
}

# The whole script is read before any of it runs, so that the file may change meanwhile.
main() {
  mode=${1:-60}
  # Allocation stacks are not recorded, and freed memory is quarantined only briefly: both take more time than the
  # targets.
  export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=0:quarantine_size_mb=8
  [ "$mode" = --table ] || {
    export KELVIN_FUZZ=1
    swift build -c release --scratch-path "$scratch" --product Fuzz \
      -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address
  }
  while read -r target bytes; do
    listed+=("$target")
    longest[$target]=$bytes
  done < <("$fuzz" --list)
  case $mode in
  --table) targets=("${listed[@]}") ;;
  --long) goal=${2:-10000000} targets=("${@:3}") ;;
  *) targets=("${@:2}") ;;
  esac
  [ ${#targets[@]} -gt 0 ] || targets=("${listed[@]}")
  for target in "${targets[@]}"; do before[$target]=$(kept "$target" | cut -d' ' -f1); done
  trap sweep EXIT
  case $mode in
  --table) ;;
  --long)
    rest=("${targets[@]}")
    while [ ${#rest[@]} -gt 0 ]; do
      waiting=()
      for target in "${rest[@]}"; do
        turn "$target" "${longest[$target]}" -max_total_time=300
        # A target with a finding is not run again until the finding is fixed.
        read -r runs _ _ _ result <<< "$(kept "$target")"
        [ "$runs" -ge "$goal" ] || [ "$result" != none ] || waiting+=("$target")
      done
      rest=("${waiting[@]}")
    done
    ;;
  *) for target in "${targets[@]}"; do turn "$target" "${longest[$target]}" -max_total_time="$mode"; done ;;
  esac
  table "${targets[@]}"
  [ -z "$failed" ] || { echo "found something: see $findings"; exit 1; }
}
main "$@"
