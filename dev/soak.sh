#!/usr/bin/env bash
# Several models on every device in one process, from eight tasks at once: equal results, flat memory.
# dev/soak.sh [SECONDS], 60 unless said. Real models take part where $KELVIN_SHARED or ../shared has them.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
scratch=${KELVIN_SCRATCH:-.build}
swift build -c release --build-tests --scratch-path "$scratch"
KELVIN_SOAK="$seconds" swift test -c release --disable-testable-imports --skip-build --scratch-path "$scratch" \
  --filter '^KelvinTests\.(ConcurrencyTests|PredictionTests)' --no-parallel
