#!/usr/bin/env bash
# Runs several models on every device in one process, from eight concurrent tasks, with loads and cancellations, and on
# simulated devices that fail, hang and recover. Results must be equal; memory, descriptors and threads must be as many
# at the end as at half time.
#
#   dev/soak.sh [SECONDS | --hours N]      the default is 60 seconds
#
# KELVIN_SOAK_SEED selects the faults. Real models take part if $KELVIN_SHARED or ../shared has them.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
seconds=60
case ${1:-} in
--hours) seconds=$(awk -v hours="${2:?hours}" 'BEGIN { print int(3600 * hours) }') ;;
?*) seconds=$1 ;;
esac
scratch=${KELVIN_SCRATCH:-.build}
swift build -c release --build-tests --scratch-path "$scratch"
KELVIN_SLOW_TESTS=1 KELVIN_SOAK="$seconds" swift test -c release --disable-testable-imports --skip-build --scratch-path "$scratch" \
  --filter '^(FaultTests\.SoakTests|KelvinTests\.PredictionTests)' --no-parallel
