#!/usr/bin/env bash
# Runs the tests under AddressSanitizer and ThreadSanitizer, each in a build of its own.
#
#   dev/sanitize.sh [address|thread]… [-- OPTIONS OF swift test]      both unless said
set -euo pipefail
cd "$(dirname "$0")/.."
kinds=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do kinds+=("$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#kinds[@]} -gt 0 ] || kinds=(address thread)

# Leaks are not looked for: drivers keep their state until the process ends. A small quarantine keeps what is freed from
# the eyes of the tests that watch the memory of the process. Drivers that bring LLVM set a signal stack of their own,
# which the sanitizer would unmap as its own when a thread ends.
export ASAN_OPTIONS=detect_leaks=0:exitcode=86:allocator_may_return_null=1:detect_stack_use_after_return=0
ASAN_OPTIONS+=:quarantine_size_mb=16:use_sigaltstack=0
export TSAN_OPTIONS=suppressions=$PWD/dev/tsan-suppressions.txt:halt_on_error=0:exitcode=86:second_deadlock_stack=1
for kind in "${kinds[@]}"; do
  scratch=.build-$kind
  swift build -c release --sanitize "$kind" --scratch-path "$scratch" --build-tests
  log=$scratch/tests.log
  echo "== $kind"
  swift test -c release --sanitize "$kind" --scratch-path "$scratch" --disable-testable-imports --skip-build "$@" \
    2>&1 | tee "$log" | grep -E 'Sanitizer|Test run|failed after|SUMMARY' || true
  if grep -qE 'ERROR: AddressSanitizer|WARNING: ThreadSanitizer|Test run .* failed' "$log" \
      || ! grep -qE 'Test run with .* passed' "$log"; then
    echo "$kind: not clean, see $log"
    exit 1
  fi
done
