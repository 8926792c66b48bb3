#!/usr/bin/env bash
# Fuzzes every interface that reads external bytes (Tests/FuzzTargets) with libFuzzer under AddressSanitizer.
#
#   dev/fuzz.sh [SECONDS [TARGET…]]         the default is 60 seconds for each of all targets; then the table
#   dev/fuzz.sh --change [COMMIT [SECONDS]] the targets whose sources changed since a commit (origin/main), 20 seconds each
#   dev/fuzz.sh night [HOURS [TARGET…]]     for 8 hours, in turns of five minutes, the target with the fewest executions
#   first; ends early when each has 10 000 000
#   dev/fuzz.sh --minimize [TARGET…]        keeps the inputs of each target that reach more than its seeds
#   dev/fuzz.sh --table                     the executions so far
#
# The corpus and the number of executions of each target are kept in $KELVIN_FUZZ_CORPUS (.build-fuzz/corpus), so that a
# long run can be interrupted and continued. Without the folder, executions are counted again from 0, and the corpus
# begins with Tests/FuzzTargets/Seeds/Corpus.tar.xz, which --minimize writes. A finding is written to .build-fuzz/findings,
# removes its target from a night's run and makes the run end with status 1. $KELVIN_SCRATCH replaces .build-fuzz for
# builds. A run of all targets on an unchanged commit is recorded in bench/results/checks.json.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
scratch=${KELVIN_SCRATCH:-.build-fuzz}
corpus=${KELVIN_FUZZ_CORPUS:-$scratch/corpus}
findings=$scratch/findings
fuzz=$scratch/release/Fuzz
archive=Tests/FuzzTargets/Seeds/Corpus.tar.xz
goal=10000000       # executions of a target in total
largest_part=24576  # bytes of a target in the archive
largest=1048576     # bytes of the archive
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

# Runs a target with options of libFuzzer. 30 s and 2 GiB under the sanitizer on a shared machine correspond to 2 s and
# 1 GiB. Swift's crash handler would read memory that the sanitizer protects.
run() {
  VIPS_CONCURRENCY=1 SWIFT_BACKTRACE=enable=no "$fuzz" "$1" -max_len="${longest[$1]}" -timeout=30 -rss_limit_mb=2560 \
    -malloc_limit_mb=2048 -reload=0 -detect_leaks=0 -trace_malloc=0 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$findings/$1-" "${@:2}"
}

# A turn of a target of so many seconds.
turn() {
  local target=$1 log=$findings/$1.log result=none runs seconds edges inputs took executed
  mkdir -p "$corpus/$target"
  "$fuzz" --seeds "$target" "$corpus/$target"
  local TIMEFORMAT='%U %S'
  took=$({ time run "$target" -max_total_time="$2" "$corpus/$target" > "$log" 2>&1; } 2>&1) || result=failed
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
listed=()
failed=

# The targets whose lists, or the modules that these import, differ from a commit.
changed() {
  local file folders
  for file in Tests/FuzzTargets/*FuzzTargets.swift; do
    mapfile -t folders < <(sed -nE 's|^import (C?Kelvin.*)|Sources/\1|p' "$file")
    git diff --quiet "$1" -- "$file" "${folders[@]}" \
      || tr -d '\n' < "$file" | grep -oE 'FuzzTarget\( *"[a-z0-9]+"' | grep -oE '[a-z0-9]+"' | tr -d '"'
  done
}

# The target without a finding that was executed least, unless each was executed as often as the goal demands.
next_target() {
  local target runs result
  for target in "$@"; do
    read -r runs _ _ _ result <<< "$(kept "$target")"
    [ "$runs" -ge "$goal" ] || [ "$result" != none ] || echo "$runs $target"
  done | sort -n | sed -n '1s/.* //p'
}

night() {
  local end=$((SECONDS + $1 * 3600)) left target
  while left=$((end - SECONDS)) && [ $left -gt 0 ] && target=$(next_target "${@:2}") && [ -n "$target" ]; do
    turn "$target" $((left < 300 ? left : 300))
  done
}

# Replaces a target in the archive's folder: the smallest inputs that reach more than the seeds.
minimize() {
  local target=$1 folder=$2/$1 size total=0 file
  rm -rf "$folder"
  mkdir -p "$folder" "$corpus/$target"
  "$fuzz" --seeds "$target" "$folder"
  run "$target" -merge=1 "$folder" "$corpus/$target" > "$findings/$target.merge.log" 2>&1
  rm -f "$folder"/seed-*
  while read -r size file; do
    total=$((total + size))
    [ $total -le $largest_part ] || rm "$folder/$file"
  done < <(find "$folder" -type f -printf '%s %f\n' | sort -n -k1,1 -k2)
  echo "$target: $(find "$folder" -type f | wc -l) inputs"
}

minimize_all() {
  local stage target
  stage=$(mktemp -d)
  [ ! -e $archive ] || tar -xJf $archive -C "$stage"
  for target in "$@"; do minimize "$target" "$stage"; done
  for target in "$stage"/*; do
    [[ -n ${longest[${target##*/}]:-} ]] || rm -r "$target"
  done
  tar --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$stage" -c . \
    | xz -9e -T1 > "$stage.tar.xz"
  rm -r "$stage"
  [ "$(stat -c %s "$stage.tar.xz")" -le $largest ] || { echo "$stage.tar.xz has more than $largest bytes" >&2; exit 1; }
  mv "$stage.tar.xz" $archive
  chmod 644 $archive
}

# Removes the shared memory of ended processes.
sweep() {
  local folder
  for folder in /dev/shm/kelvin-fuzz-*; do
    [ ! -d "$folder" ] || [ -d "/proc/${folder##*-}" ] || rm -rf "$folder"
  done
}

# Records a run of all targets.
record() {
  local target total=0 found=0 runs result
  for target in "${listed[@]}"; do
    read -r runs _ _ _ result <<< "$(kept "$target")"
    total=$((total + runs - ${before[$target]}))
    [ "$result" = none ] || found=$((found + 1))
  done
  dev/records.py write fuzzing "$1" targets=${#listed[@]} executions=$total findings=$found
}

# The whole script is read before any of it runs, so that the file may change meanwhile.
main() {
  local mode=${1:-60} targets=() commit target bytes
  case $mode in
  --change) ;;
  night) targets=("${@:3}") ;;
  *) targets=("${@:2}") ;;
  esac
  if [ "$mode" = --change ]; then
    git rev-parse --verify --quiet "${2:-origin/main}^{commit}" > /dev/null \
      || { echo "git does not know the commit '${2:-origin/main}': name another" >&2; exit 64; }
    mapfile -t targets < <(changed "${2:-origin/main}")
    [ ${#targets[@]} -gt 0 ] || { echo "no target's sources changed"; return; }
  fi
  # Allocation stacks are not recorded, and freed memory is quarantined only briefly: both take more time than the
  # targets.
  export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=0:quarantine_size_mb=8
  commit=$(dev/records.py begin) || true
  [ "$mode" = --table ] || {
    export KELVIN_FUZZ=1
    swift build -c release --scratch-path "$scratch" --product Fuzz \
      -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address
    [ ! -e $archive ] || tar -xJf $archive -C "$corpus" --skip-old-files
  }
  while read -r target bytes; do
    listed+=("$target")
    longest[$target]=$bytes
  done < <("$fuzz" --list)
  [ ${#targets[@]} -gt 0 ] || targets=("${listed[@]}")
  for target in "${targets[@]}"; do before[$target]=$(kept "$target" | cut -d' ' -f1); done
  trap sweep EXIT
  case $mode in
  --table) ;;
  --minimize) minimize_all "${targets[@]}" ;;
  --change) for target in "${targets[@]}"; do turn "$target" "${3:-20}"; done ;;
  night) night "${2:-8}" "${targets[@]}" ;;
  *) for target in "${targets[@]}"; do turn "$target" "$mode"; done ;;
  esac
  table "${targets[@]}"
  case $mode in
  --table | --minimize | --change) ;;
  *) [ -z "$commit" ] || [ ${#targets[@]} -lt ${#listed[@]} ] || record "$commit" ;;
  esac
  [ -z "$failed" ] || { echo "found something: see $findings"; exit 1; }
}
main "$@"
