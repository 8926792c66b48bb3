#!/usr/bin/env bash
# Runs the whole fault matrix. Every function of the Vulkan and OpenCL loaders fails at its first, fifth and last call,
# with each kind of failure, once and permanently, on each kind of GPU (Tests/FaultTests). Every kernel of every
# self-test returns wrong results. 'make test' runs a part of the matrix.
#
#   dev/faults.sh        needs a build of the tests (make test); prints the results of each setting's trials as JSON
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
KELVIN_FAULTS=all exec swift test -c release --disable-testable-imports --skip-build --filter 'FaultMatrixTests|SelfTestTests'
