#!/usr/bin/env bash
# The whole fault matrix: every function of the Vulkan and OpenCL loaders, at its first, fifth and last call, with each
# kind of failure, once and for good, on each kind of card (Tests/FaultTests); kernels left out and results spoiled while
# models predict; and every kernel of every self-test made to lie. 'make test-slow' runs a part of it.
#
#   dev/faults.sh        needs a build of the tests (make test); prints the results of each setting's trials as JSON
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
KELVIN_SLOW_TESTS=1 KELVIN_FAULTS=all exec swift test -c release --disable-testable-imports --skip-build --filter 'FaultMatrixTests|SelfTestTests|WrongResultsTests|SoftwareDriverTests'
