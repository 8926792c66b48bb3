#!/usr/bin/env bash
# Builds a new Swift package with the plugin KelvinModels and one generated class, and runs it. Needs `make test-build`.
#
# The plugin and its program come from the archive of `make plugin`, and the module Kelvin from the build, so that the time is
# that of a client whose dependencies are built: at most 30 seconds of processor time.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
limit=30
release=$PWD/.build/release
digits=$PWD/Examples/Digits
fail() { echo "check-plugin: $*" >&2; exit 1; }
[ -e "$release/GeneratedClass" ] || fail "build first: make test-build"

client=$(mktemp -d)
trap 'rm -rf "$client"' EXIT
archive=$(dev/package/archives.sh plugin)
unzip -q "$archive" -d "$client"
grep -v '/GeneratedClass.build/' "$release/GeneratedClass.product/Objects.LinkFileList" > "$client/objects"
mkdir -p "$client/Sources/Client/Files/Models"
cp -r "$digits/Digits.mlpackage" "$client/Sources/Client/Files/Models"
# The modules of C that Kelvin's modules import.
maps=$(printf '"-Xcc", "-fmodule-map-file=%s", ' "$release"/*.build/module.modulemap)
cat > "$client/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Client",
  dependencies: [.package(path: "KelvinModels")],
  targets: [
    .executableTarget(
      name: "Client", resources: [.copy("Files/Models")],
      swiftSettings: [.unsafeFlags(["-warnings-as-errors", "-I", "$release/Modules", $maps])],
      linkerSettings: [
        .unsafeFlags(["-use-ld=lld", "-Xlinker", "@$client/objects", "-l:libcrypto.a", "-l:libz.a"])
      ],
      plugins: [.plugin(name: "KelvinModels", package: "KelvinModels")])
  ])
MANIFEST
cat > "$client/Sources/Client/main.swift" <<'SWIFT'
import Foundation
import Kelvin

let digits = try Digits()
let output = try digits.prediction(Digits.Input(imageAt: URL(filePath: CommandLine.arguments[1])))
print(output.classLabel, Digits.Label(rawValue: output.classLabel) == .seven)
SWIFT

build() { swift build --package-path "$client" 2>&1 | tee "$client/log" || fail "the client does not build"; }
TIMEFORMAT='%U %S'
{ time build > "$client/output" 2>&1; } 2> "$client/time" || fail "$(cat "$client/output")"
seconds=$(awk '{ printf "%.1f", $1 + $2 }' "$client/time")
awk -v used="$seconds" -v limit="$limit" 'BEGIN { exit used > limit }' || fail "a clean build takes $seconds s of processor time"
echo "ok  a clean build takes $seconds s of processor time"

seen=$("$client/.build/debug/Client" "$digits/images/7_0043.png")
[ "$seen" = "seven true" ] || fail "expected 'seven true', got '$seen'"
echo 'ok  the class finds its model and predicts'

class=$(find "$client/.build" -name Digits.swift)
touched=$(stat -c %y "$class")
touch "$client/Sources/Client/Files/Models/Digits.mlpackage/Manifest.json"
build > /dev/null
[ "$(stat -c %y "$class")" = "$touched" ] || fail "a build with an equal model writes the class again"
! grep -q 'Compiling Client' "$client/log" || fail "a build with an equal model compiles: $(cat "$client/log")"
echo 'ok  an equal model leaves the class alone'

echo '{"access": "public"}' > "$client/Sources/Client/.kelvin-models.json"
build > /dev/null
grep -q '^public struct Digits' "$class" || fail "the choices in .kelvin-models.json have no effect"
echo 'ok  a file chooses the access level'

cp "$digits/Digits.onnx" "$client/Sources/Client/Files/Models"
! swift build --package-path "$client" > "$client/log" 2>&1 || fail "two models of one name are accepted"
grep -q 'give one class' "$client/log" || fail "no message for two models of one name: $(cat "$client/log")"
echo 'ok  two models of one name are an error'
