#!/usr/bin/env bash
# Runs the tests under ThreadSanitizer, and under AddressSanitizer with UndefinedBehaviorSanitizer, in two separate
# builds. The latter two may share a build or have separate ones; ThreadSanitizer cannot be combined with either.
#
#   dev/sanitize.sh [thread|address|undefined|address,undefined]… [--part I/N] [-- OPTIONS OF swift test]
#
# A run of all tests on an unchanged commit is recorded in bench/results/checks.json. With --part, the tests of the
# second tier are those of one part of N, as in `make test-slow PART=I/N`, and the record names the part.
#
# Every process writes its sanitizer findings to a separate file, including processes that tests start and end. A
# finding therefore counts whatever the process prints and however it ends.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
builds=()
part=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    --part) part=${2:?--part needs I/N}; shift 2 ;;
    *) builds+=("$1"); shift ;;
  esac
done
[ $# -eq 0 ] || shift
[ ${#builds[@]} -gt 0 ] || builds=(thread address,undefined)

# Leaks are not checked, because drivers keep their state until the process ends. A small quarantine keeps freed memory
# out of the tests that measure the process's memory. Drivers with LLVM set a signal stack of their own, which the
# sanitizer would unmap when a thread ends. SIGBUS is not handled by the sanitizer: one test ends a process by it, and a
# SIGBUS that ends the tests fails them anyway.
address=detect_leaks=0:exitcode=86:allocator_may_return_null=1:detect_stack_use_after_return=0
address+=:quarantine_size_mb=16:use_sigaltstack=0:handle_sigbus=0
thread=suppressions=$PWD/dev/tsan-suppressions.txt:halt_on_error=0:exitcode=86:second_deadlock_stack=1
thread+=:handle_sigbus=0
undefined=print_stacktrace=1
finding='ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error:'

# Sets `options`, of swift build and swift test. On Linux the Swift compiler rejects `--sanitize undefined`, and Swift
# traps by itself. Only C is checked, including C in headers that Swift imports.
set_options() {
  options=()
  for kind in ${1//,/ }; do
    case $kind in
      address | thread) options+=(--sanitize "$kind") ;;
      undefined) options+=(-Xcc -fsanitize=undefined -Xswiftc -Xclang-linker -Xswiftc -fsanitize=undefined) ;;
      *) echo "$0: '$kind' is none of thread, address and undefined" >&2; exit 64 ;;
    esac
  done
}

# Runs tests of the build; memory begins as in `make test`.
run_tests() {
  KELVIN_POISON_MEMORY=255 swift test -c release "${options[@]}" --scratch-path "$scratch" --disable-testable-imports \
    --skip-build "$@" 2>&1 | tee -a "$log" | grep -E 'Test run|failed after|skipped' || true
}

isClean=1
commit=
[ $# -gt 0 ] || commit=$(dev/records.py begin) || true  # a part of the tests is not recorded
for build in "${builds[@]}"; do
  set_options "$build"
  # Options of sanitizers end at commas.
  scratch=.build-${build//,/-}
  reports=$PWD/$scratch/reports
  log=$scratch/tests.log
  began=$SECONDS
  # The sanitizers decide how the program is linked (Package.swift), and how tests link other programs.
  export KELVIN_SANITIZERS=$build
  swift build -c release "${options[@]}" --scratch-path "$scratch" --build-tests
  echo "== $build: built in $((SECONDS - began)) s"
  rm -rf "$reports"
  mkdir -p "$reports"
  export ASAN_OPTIONS=$address:log_path=$reports/report
  export TSAN_OPTIONS=$thread:log_path=$reports/report
  export UBSAN_OPTIONS=$undefined:log_path=$reports/report
  began=$SECONDS
  : > "$log"
  runs=1
  if [ -z "$part" ]; then
    KELVIN_SLOW_TESTS=1 run_tests "$@"
  else
    runs=2
    run_tests "$@"
    KELVIN_SLOW_TESTS=1 run_tests --filter "$(dev/slow-tests.py --part "$part")" "$@"
  fi
  echo "== $build: ran in $((SECONDS - began)) s"
  grep -rh SUMMARY "$reports" | sort | uniq -c || true
  [ -z "$commit" ] || dev/records.py write "$build" "$commit" \
    tests="$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$log" | awk '{ sum += $1 } END { print sum }')" \
    ${part:+slow_part="$part"} \
    findings="$(grep -rhE "$finding" "$reports" | wc -l)" failed="$(grep -E '^.? ?Test .* failed after' "$log" | grep -vc 'Test run' || true)"
  if grep -rqE "$finding" "$reports" \
      || [ "$(grep -cE 'Test run with .* passed' "$log")" -ne "$runs" ]; then
    echo "$build: not clean, see $log and $reports"
    isClean=0
  fi
done
[ $isClean = 1 ]
