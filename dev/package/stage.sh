#!/usr/bin/env bash
# Installs the build into a staging root: program, C library, header, pkg-config file, manual page and completions.
#
#   dev/package/stage.sh ROOT PREFIX [LIBDIR]      LIBDIR is below PREFIX; the default is lib
#
# Needs `swift build -c release` of the products kelvin and KelvinC.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$1
prefix=$2
lib=${3:-lib}
to=$root$prefix
build=.build/release
version=$(sed -n 's/.*kelvinVersion = "\(.*\)".*/\1/p' Sources/KelvinFeatures/Version.swift)

install -d "$to/bin" "$to/$lib/pkgconfig" "$to/include" "$to/share/man/man1" "$to/share/doc/kelvin" \
  "$to/share/bash-completion/completions" "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d"
strip -o "$to/bin/kelvin" "$build/kelvin"
# Programs are linked to the name without a number, and load the one with it.
strip --strip-unneeded -o "$to/$lib/libkelvin.so.0" "$build/libKelvinC.so"
ln -sf libkelvin.so.0 "$to/$lib/libkelvin.so"
chmod 755 "$to/bin/kelvin"
chmod 644 "$to/$lib/libkelvin.so.0"
install -m 644 Sources/CKelvin/include/kelvin.h "$to/include/kelvin.h"
install -m 644 LICENSE "$to/share/doc/kelvin/copyright"
dev/package/notices.py "$to/share/doc/kelvin" "$build/kelvin" "$build/libKelvinC.so"
cat > "$to/$lib/pkgconfig/kelvin.pc" <<PC
prefix=$prefix
libdir=\${prefix}/$lib
includedir=\${prefix}/include

Name: kelvin
Description: Runs Core ML and ONNX models, and shows which device runs which layer, and why
Version: $version
Libs: -L\${libdir} -lkelvin
Cflags: -I\${includedir}
PC
dev/package/manual.py "$build/kelvin" > "$to/share/man/man1/kelvin.1"
"$build/kelvin" --generate-completion-script bash > "$to/share/bash-completion/completions/kelvin"
"$build/kelvin" --generate-completion-script zsh > "$to/share/zsh/site-functions/_kelvin"
"$build/kelvin" --generate-completion-script fish > "$to/share/fish/vendor_completions.d/kelvin.fish"
