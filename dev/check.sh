#!/usr/bin/env bash
# Checks on the sources: file sizes, module imports, generated files and, where there is a release build, documentation.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { echo "check: $*" >&2; failed=1; }

while IFS= read -r line; do complain "over 500 lines: $line"; done < <(
  git ls-files '*.swift' '*.c' '*.h' '*.comp' '*.glsl' '*.cl' '*.py' '*.sh' | grep -v '/Generated/' \
    | xargs wc -l | awk '$1 > 500 && $2 != "total" { print $2 " (" $1 ")" }')
while IFS= read -r line; do complain "Foundation instead of FoundationEssentials: $line"; done < <(
  git grep -nE '^(public |package )?import Foundation$' -- Sources || true)
while IFS= read -r line; do complain "planning knows only values: $line"; done < <(
  git grep -nE '^(public |package )?import Kelvin' -- Sources/KelvinPlanning || true)
for device in CPU Vulkan OpenCL Reference Null; do
  while IFS= read -r line; do complain "a device imports another: $line"; done < <(
    git grep -nE '^(public |package )?import Kelvin(CPU|Vulkan|OpenCL|Reference|Null)$' -- "Sources/Kelvin$device" || true)
done
if command -v glslc > /dev/null; then dev/build-shaders.sh --check || complain "Shaders/spv is stale: run dev/build-shaders.sh"; fi
# Documentation, where there is a release build whose modules are newer than the sources.
modules="${KELVIN_SCRATCH:-.build}/release/Modules"
if command -v docc > /dev/null && [ -e "$modules/KelvinVision.swiftmodule" ] \
  && [ -z "$(find Sources/Kelvin Sources/KelvinVision -name '*.swift' -newer "$modules/KelvinVision.swiftmodule" -print -quit)" ]; then
  dev/docs.sh "$(mktemp -d)" > /dev/null || complain "the documentation has faults: run dev/docs.sh"
else
  echo "check: documentation not checked: build first (swift build -c release)" >&2
fi
python3 dev/generate-elementwise.py --check || complain "an element-wise function is not what its table says: run dev/generate-elementwise.py"
check_schema() {  # interpreter, package, what dev/generate-schemas.py calls it
  if ! "$1" -c "import $2" > /dev/null 2>&1; then return; fi
  "$1" dev/generate-schemas.py --check "$3" || complain "Wire/Generated is not what $2 gives: run dev/generate-schemas.py $3"
}
check_schema "${ONNX_PYTHON:-python3}" onnx onnx
check_schema "${COREML_PYTHON:-python3}" coremltools coreml
exit $failed
