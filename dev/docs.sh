#!/usr/bin/env bash
# Builds the documentation of the library products from their release build, warnings as errors, into
# docs-output/ (or the folder given). Fails if a public symbol is not documented, or if no list of topics names a type.
# Needs docc, which is part of the Swift toolchain.
# The modules of Frameworks have no archive; their public symbols are checked if they are built (make test-build).
# The archive guide.doccarchive has the guide, the reference pages, the design and the decisions (dev/guide_catalog.py).
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
output=${1:-docs-output}
scratch=${KELVIN_SCRATCH:-.build}
build=$(swift build -c release --scratch-path "$scratch" --show-bin-path)
[ -e "$build/Modules/KelvinVision.swiftmodule" ] || { echo "docs: build first: swift build -c release" >&2; exit 65; }
target=$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
symbols=$(mktemp -d)
trap 'rm -rf "$symbols"' EXIT
mkdir -p "$output"

modules=(Kelvin KelvinMeasuring KelvinTables KelvinVision KelvinCollections KelvinVideo KelvinText KelvinGeneration
  KelvinCompression KelvinPackaging KelvinStore)
maps=()
for map in "$build"/*.build/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done
extract() {  # module, options
  mkdir "$symbols/$1"
  swift symbolgraph-extract -module-name "$1" -I "$build/Modules" "${maps[@]}" -target "$target" \
    -minimum-access-level public -output-dir "$symbols/$1" "${@:2}" > /dev/null
}
for module in "${modules[@]}"; do
  extract "$module" -experimental-allowed-reexported-modules=KelvinImages,KelvinFeatures,KelvinIsolation,KelvinEvaluation,KelvinIndex
done
if [ -e "$build/Modules/Accelerate.swiftmodule" ]; then
  for module in CoreML Vision CoreVideo CoreGraphics ImageIO CoreImage Accelerate; do extract "$module"; done
else
  echo "docs: not checked: Frameworks, which is not built" >&2
fi
python3 dev/undocumented.py "$symbols"/*/*.symbols.json
for module in "${modules[@]}"; do
  python3 dev/uncurated.py "Sources/$module/$module.docc" "$symbols/$module"/*.symbols.json
  docc convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$symbols/$module" \
    --fallback-bundle-identifier "kelvin.$module" --fallback-display-name "$module" \
    --output-path "$output/$module.doccarchive" --warnings-as-errors
done
python3 dev/guide_catalog.py "$symbols/guide.docc"
docc convert "$symbols/guide.docc" --fallback-bundle-identifier kelvin.guide --fallback-display-name "Kelvin guide" \
  --output-path "$output/guide.doccarchive" --warnings-as-errors
