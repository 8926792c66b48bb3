#!/usr/bin/env bash
# Type-checks the libraries of published packages for Core ML against the modules of Frameworks. Needs `make test-build`.
#
#   dev/check-packages.sh                          fetches the packages from https://github.com
#   KELVIN_PACKAGES=/folder dev/check-packages.sh  fetches them from /folder/OWNER/NAME
#
# Counts the lines with errors and the lines that this script changes. Exits with 77 if a package cannot be fetched.
# Frameworks/Programs/Symbols.swift has the names that the packages use, and `make test` compiles it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${KELVIN_SCRATCH:-$PWD/.build}/release
source=${KELVIN_PACKAGES:-https://github.com}
fail() { echo "check-packages: $*" >&2; exit 1; }
[ -e "$build/Modules/Accelerate.swiftmodule" ] || fail "build first: make test-build"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Name, commit, folder of the library, a file to leave out, the most lines with errors, the most changed lines.
packages() {
  cat <<'TABLE'
ysake/e5-coreml-swift-embedding-cli f5a24c919123175d27d836d8dbad82e6869f2b40 Sources/E5EmbeddingCore - 0 0
schappim/coreml-cli c3a4eb2c12b4cebe4f11f938081e90932be6fd82 Sources/CoreMLToolkit - 0 6
apple/ml-stable-diffusion e12202c1f6405b83918b58a5d097cd61e3e1f702 swift/StableDiffusion CGImage+vImage.swift 19 1
TABLE
}

# Linux has no AppKit, and its Foundation has no names of Core Foundation.
change() {  # package, folder of the library
  case $1 in
    schappim/coreml-cli)
      sed -i "$2"/*.swift -e 's/^import AppKit$/import ImageIO/' \
        -e 's/NSImage(contentsOf: url)/CGImageSourceCreateWithURL(url as CFURL, nil)/' \
        -e 's/nsImage\.cgImage(forProposedRect: .*)/CGImageSourceCreateImageAtIndex(nsImage, 0, nil)/'
      ;;
    apple/ml-stable-diffusion) sed -i 's/^import Foundation$/import CoreML/' "$2/pipeline/SampleTimer.swift" ;;
  esac
}

# Stand-ins for modules of other packages and of Apple's systems: the declarations that the packages use.
stand_in() {  # module; the source is the standard input
  cat > "$work/$1.swift"
  swiftc -emit-module -parse-as-library -module-name "$1" -I "$work" "$work/$1.swift" -o "$work/$1.swiftmodule"
}
stand_in NaturalLanguage < /dev/null
stand_in Hub <<'SWIFT'
public struct Config { public init(_ dictionary: [String: Any]) {} }
public enum Hub { public enum HubClientError: Error { case parse } }
SWIFT
stand_in Tokenizers <<'SWIFT'
import Foundation
@_exported import Hub
public protocol Tokenizer: Sendable {
  func tokenize(text: String) -> [String]
  func convertTokenToId(_ token: String) -> Int?
  func encode(text: String) -> [Int]
  var bosTokenId: Int? { get }
  var eosTokenId: Int? { get }
}
public enum AutoTokenizer {
  public static func from(modelFolder: URL) async throws -> any Tokenizer { fatalError() }
}
public struct PreTrainedTokenizer: Tokenizer {
  public init(tokenizerConfig: Config, tokenizerData: Config) throws {}
  public func tokenize(text: String) -> [String] { [] }
  public func convertTokenToId(_ token: String) -> Int? { nil }
  public func encode(text: String) -> [Int] { [] }
  public var bosTokenId: Int? { nil }
  public var eosTokenId: Int? { nil }
}
SWIFT

maps=()
for map in "$build"/*.build/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done
skipped=0 failed=0
while read -r name commit library omitted most_errors most_changes; do
  folder=$work/packages/$name
  git init -q "$folder"
  if ! GIT_TERMINAL_PROMPT=0 timeout 300 git -C "$folder" fetch -q --depth 1 "$source/$name" "$commit" 2> "$work/reason"; then
    echo "check-packages: not checked: $name: $(head -1 "$work/reason")" >&2
    skipped=1
    continue
  fi
  git -C "$folder" checkout -q FETCH_HEAD
  change "$name" "$folder/$library"
  mapfile -t files < <(find "$folder/$library" -name '*.swift' ! -name "$omitted" | sort)
  changed=$(git -C "$folder" diff --numstat | awk '{ sum += $1 } END { print sum + 0 }')
  swiftc -typecheck -wmo -swift-version 5 -module-name Package -I "$build/Modules" -I "$work" "${maps[@]}" "${files[@]}" \
    > "$work/output" 2>&1 || true
  # One line of a source may have several errors.
  grep -oE '^/[^ ]+:[0-9]+:[0-9]+: error: .*' "$work/output" | sed "s|^$folder/||" | sort -t: -k1,2 -u > "$work/errors" || true
  errors=$(wc -l < "$work/errors")
  if [ "$errors" = 0 ] && grep -q 'error:' "$work/output"; then cat "$work/output" >&2; fail "$name: the compiler failed"; fi
  cat "$work/errors"
  lines=$(cat "${files[@]}" | wc -l)
  counts="$name: $errors lines with errors, $changed changed lines of $lines"
  if [ "$errors" -le "$most_errors" ] && [ "$changed" -le "$most_changes" ]; then
    echo "ok  $counts"
  else
    echo "check-packages: $counts; at most $most_errors and $most_changes are expected" >&2
    failed=1
  fi
done < <(packages)
[ "$failed" = 0 ] || exit 1
[ "$skipped" = 0 ] || exit 77
