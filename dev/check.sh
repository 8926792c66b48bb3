#!/usr/bin/env bash
# Checks the rules that the compiler does not check: needs git, swift and python3.
#
#   dev/check.sh sources         before a build: file sizes, imports and layers, English, format, tracked files, generated files
#   dev/check.sh rebuild         after a release build of the tests: a second build compiles none of our modules
#   dev/check.sh binaries        after make build library: the program and the C library are hardened
#   dev/check.sh documentation   after a release build: warnings as errors, every public symbol documented
#   dev/check.sh                 both
#   dev/check.sh --self-test     plants a fault for every rule and fails if a check does not find it; tests the tools
#                                of dev/gpu-shader-report
#
# Shaders are compared if glslc is installed, the protobuf readers if onnx and coremltools are (ONNX_PYTHON,
# COREML_PYTHON); the output names the checks that are skipped.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
failed=0
complain() { echo "check: $*" >&2; failed=1; }
skip() { echo "check: not checked: $*" >&2; }

check_schema() {  # interpreter, package, what dev/generate-schemas.py calls it
  if ! "$1" -c "import $2" > /dev/null 2>&1; then
    skip "the field numbers of $3 against $2, which $1 does not have"
    return
  fi
  "$1" dev/generate-schemas.py --check "$3" || complain "the field numbers are not what $2 gives: run dev/generate-schemas.py $3"
}

check_format() {  # files and folders; all Swift files of the project if there are none
  [ $# -gt 0 ] || set -- Package.swift Sources Tests Examples Frameworks Plugin bench
  swift format lint --strict --parallel --recursive --configuration .swift-format "$@"
}

check_sources() {
  python3 dev/source_rules.py || failed=1
  python3 dev/records.py || failed=1
  python3 dev/prose.py >&2 || complain "the English breaks a rule of dev/prose.py"
  check_format || complain "the format of Swift files differs from .swift-format: run swift format -i on them"
  if command -v glslc > /dev/null; then
    dev/build-shaders.sh --check || complain "Shaders/spv is stale: run dev/build-shaders.sh"
  else
    skip "Shaders/spv, for want of glslc"
  fi
  python3 dev/generate-elementwise.py --check || complain "an element-wise function is not what its table says: run dev/generate-elementwise.py"
  python3 dev/generate-normal-tail.py --check || complain "a table is not what its script gives: run dev/generate-normal-tail.py"
  python3 dev/conformance.py --page --check || complain "docs/conformance.md is stale: run dev/conformance.py --page"
  check_schema "${ONNX_PYTHON:-python3}" onnx onnx
  check_schema "${COREML_PYTHON:-python3}" coremltools coreml
}

check_documentation() {
  local release="${KELVIN_SCRATCH:-.build}/release" newer latest
  local modules="$release/Modules"
  [ -e "$modules/KelvinVision.swiftmodule" ] || { complain "documentation needs a build: swift build -c release"; return; }
  # A module whose interface does not change keeps its file; the compiled objects are in its folder.
  latest=$(find "$release"/Kelvin{,Measuring,Tables,Vision,Collections,Text,Generation,Evaluation,Index}.build -type f -printf '%T@ %p\n' | sort -n | tail -1)
  newer=$(find Sources/Kelvin{,Measuring,Tables,Vision,Collections,Text,Generation,Evaluation,Index} -name '*.swift' -newer "${latest#* }" -print -quit)
  [ -z "$newer" ] || { complain "$newer is newer than the build: swift build -c release"; return; }
  dev/docs.sh "$(mktemp -d)" > /dev/null || complain "the documentation has faults: run dev/docs.sh"
}

# Whether readelf shows a line of a file. grep reads to the end: readelf would fail if its output were closed.
shows() { readelf -W "$1" "$2" 2> /dev/null | grep -E "$3" > /dev/null; }

check_binaries() {
  local release="${KELVIN_SCRATCH:-.build}/release" file object
  for file in "$release"/kelvin "$release"/libKelvinC.so; do
    [ -e "$file" ] || { skip "how $file is hardened, which is not built"; continue; }
    shows -l "$file" GNU_RELRO || complain "$file has no section that is read-only after relocation"
    shows -d "$file" 'BIND_NOW|FLAGS_1.*NOW' || complain "$file binds symbols late: link it with -z now"
    ! shows -l "$file" 'GNU_STACK.*RWE' || complain "$file has an executable stack"
    ! shows -d "$file" 'R(UN)?PATH' || complain "$file searches libraries in $(readelf -dW "$file" | sed -n 's/.*path: //p'): build it with make"
    shows --dyn-syms "$file" __stack_chk_fail || complain "$file does not check its stack: build it with make"
    shows --dyn-syms "$file" '__(memcpy|snprintf|vsnprintf|read|memset|memmove)_chk' || complain "$file does not check calls of the C library: build it with make"
  done
  # The objects of the Swift compiler have no such marks, so the linked files have none either.
  [ "$(uname -m)" = x86_64 ] || return 0
  for object in "$release"/CKelvin{Kernels,Support}.build/*.o; do
    [ -e "$object" ] || continue
    shows -n "$object" 'IBT, SHSTK' || complain "$object has no marks of branch targets: build it with make"
  done
}

check_rebuild() {
  local again
  again=$(KELVIN_HARDENED=1 swift build -c release --build-tests --disable-local-rpath --explicit-target-dependency-import-check error 2>&1 | grep -E '\] Compiling C?Kelvin' || true)
  [ -z "$again" ] || complain "a second build compiles again, as if its arguments had changed: $(head -1 <<<"$again")"
}

case "${1:-all}" in
  sources) check_sources ;;
  rebuild) check_rebuild ;;
  binaries) check_binaries ;;
  documentation) check_documentation ;;
  all) check_sources; check_documentation ;;
  --self-test)
    python3 dev/planted_faults.py || failed=1
    python3 dev/gpu-shader-report/self_test.py || failed=1
    planted=$(mktemp --suffix=.swift)
    echo "let planted  = [1,2]" > "$planted"
    ! check_format "$planted" 2> /dev/null || complain "the check of the format does not see spaces"
    rm "$planted" ;;
  *) echo "check: sources, rebuild, binaries, documentation or --self-test, not '$1'" >&2; exit 64 ;;
esac
exit $failed
