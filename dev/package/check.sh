#!/usr/bin/env bash
# Installs each package into a Debian without Swift and its compiler, and uses it as a new user would:
# dev/package/check.sh. Needs root, debootstrap and a network; the root is kept under .build/clean-root.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/../.."
packages=$PWD/.build/packages
root=$PWD/.build/clean-root
digits=Examples/Digits

if ! [ -e "$root/ready" ]; then
  command -v debootstrap > /dev/null || { echo "$0: install the package debootstrap" >&2; exit 69; }
  rm -rf "$root"
  debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv,python3-pip,gcc,libc6-dev,pkg-config \
    bookworm "$root" > "$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  touch "$root/ready"
fi
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do  # a network may have its own authority
   if [ -e "$file" ]; then cp -L "$file" "$root$file"; fi; done
rm -rf "$root/work"
mkdir -p "$root/work"
cp -r "$digits/Digits.mlpackage" "$digits/Digits.onnx" "$digits/images/7_0043.png" Examples/C/classify.c "$root/work"
cp "$packages"/kelvin* "$root/work"

# Only the package sources are taken from the host's environment.
inside() {
  unshare -m bash -c 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" /usr/bin/env -i HOME=/root \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin PIP_INDEX_URL="$2" PIP_CERT="$3" PIP_DISABLE_PIP_VERSION_CHECK=1 \
    bash -euc "cd /work; $1"' "$root" "$1" "${PIP_INDEX_URL:-https://pypi.org/simple}" /etc/ssl/certs/ca-certificates.crt
}
expect() { # TITLE TEXT COMMAND: its output must contain the text
  local output
  if ! output=$(inside "$3" 2>&1) || ! grep -qF -- "$2" <<< "$output"; then
    printf '%s: expected %s in\n%s\n' "$1" "$2" "$output" >&2
    exit 1
  fi
  echo "ok  $1"
}

expect 'no Swift there' none 'command -v swift swiftc || echo none'
expect 'wheel: installed' 'Successfully installed' 'python3 -m venv --clear /venv && /venv/bin/pip install ./kelvin-*.whl pillow'
expect 'wheel: a label in one command more' "seven" \
  '/venv/bin/python -c "import kelvin; print(kelvin.Model(\"Digits.mlpackage\").predict({\"image\": \"7_0043.png\"})[\"classLabel\"])"'
expect 'wheel: its part in C is used' 'builtin' \
  '/venv/bin/python -c "from kelvin import arrays; print(type(arrays.predictor))"'
expect 'wheel: the command line' 'DEVICE' '/venv/bin/python -m kelvin plan Digits.mlpackage'
expect 'wheel: devices that are absent say why' 'vulkan' '/venv/bin/python -m kelvin devices'
expect 'tar: runs where it was unpacked' '0.' 'tar xzf kelvin-*.tar.gz && ./kelvin-*-linux-*/bin/kelvin --version'
expect 'tar: linked to' 'usage: classify' \
  'cd kelvin-*-linux-*/; PKG_CONFIG_PATH=$PWD/lib/pkgconfig; export PKG_CONFIG_PATH;
   cc ../classify.c $(pkg-config --cflags --libs kelvin) -Wl,-rpath,$PWD/lib -o classify; ./classify || true'
expect 'deb: installed' 'Setting up kelvin' 'dpkg -i kelvin_*.deb'
expect 'deb: a plan in one command more' 'DEVICE' 'kelvin plan Digits.mlpackage'
expect 'deb: a program of three lines of a makefile' 'usage: classify' \
  'cc classify.c $(pkg-config --cflags --libs kelvin) -o classify; ./classify || true'
expect 'deb: gone again' 'none' 'dpkg -r kelvin > /dev/null; command -v kelvin || echo none'

client=$(mktemp -d)
trap 'rm -rf "$client"' EXIT
unzip -q "$packages"/kelvin-*.artifactbundle.zip -d "$client"
mkdir -p "$client/Sources/client"
cat > "$client/Package.swift" <<'MANIFEST'
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "client",
  targets: [
    .binaryTarget(name: "CKelvin", path: "kelvin.artifactbundle"),
    .executableTarget(name: "client", dependencies: ["CKelvin"]),
  ])
MANIFEST
cat > "$client/Sources/client/main.swift" <<'SWIFT'
import CKelvin

var error: UnsafeMutablePointer<CChar>?
var model: OpaquePointer?
guard kelvin_model_load(CommandLine.arguments[1], nil, nil, &model, &error) == KELVIN_OK else {
  fatalError(String(cString: error!))
}
var description: UnsafeMutablePointer<CChar>?
_ = kelvin_model_description(model, &description, &error)
print(String(cString: description!))
// The program's own runtime is another than the library's.
print(await Task { "two runtimes" }.value)
SWIFT
output=$(swift build --package-path "$client" 2>&1 && "$client/.build/debug/client" "$digits/Digits.mlpackage" 2>&1) || true
case $output in
*classLabel*two\ runtimes*) echo 'ok  bundle: a program of Swift, linked with the library' ;;
*) printf 'bundle: %s\n' "$output" >&2; exit 1 ;;
esac
case $("$client/kelvin.artifactbundle/bin/kelvin" plan "$digits/Digits.mlpackage") in
*DEVICE*) echo 'ok  bundle: a plan by its program' ;;
*) echo 'bundle: no plan' >&2; exit 1 ;;
esac
