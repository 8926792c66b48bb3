#!/usr/bin/env bash
# Runs random graphs with NaN, infinities, zeros, denormals and the largest numbers among their inputs on every device
# of this machine. Every node is compared with the reference, and memory contains NaN before it is written.
# Then kernels of GPU drivers get indices and tables far outside their tensors.
#
#   dev/fuzz-devices.sh [SECONDS [SEED]]      the default is 60 seconds a device from seed 0 on
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
scratch=${KELVIN_SCRATCH:-.build}
swift build -c release --build-tests --scratch-path "$scratch"
KELVIN_SLOW_TESTS=1 KELVIN_FUZZ_DEVICES=${1:-60} KELVIN_FUZZ_SEED=${2:-0} KELVIN_POISON_MEMORY=255 \
  swift test -c release --disable-testable-imports --skip-build --scratch-path "$scratch" \
  --filter '^KelvinTests\.DeviceFuzzTests|HostileAddressTests' --no-parallel
