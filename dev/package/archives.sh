#!/usr/bin/env bash
# Makes packages of the build under .build/packages: dev/package/archives.sh [wheel|deb|tar|bundle|plugin]…
#
# Equal builds give equal packages: files are sorted and have the time of the last commit. SHA256SUMS lists all packages of
# the folder. If KELVIN_SIGNING_KEY names a key of GnuPG, SHA256SUMS.asc is its signature.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/packages
version=$(sed -n 's/.*kelvinVersion = "\(.*\)".*/\1/p' Sources/KelvinFeatures/Version.swift)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2> /dev/null || echo 315532800)
export SOURCE_DATE_EPOCH
machine=$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022
mkdir -p "$out"

for kind in "${@:-wheel}"; do
  root=$stage/$kind
  case $kind in
    wheel)
      mkdir -p "$root"
      strip --strip-unneeded -o "$root/libkelvin.so.0" .build/release/libKelvinC.so
      strip -o "$root/kelvin" .build/release/kelvin
      dev/package/calls.sh "$root/calls.so"
      dev/package/notices.py "$root/notices" .build/release/kelvin .build/release/libKelvinC.so
      dev/package/wheel.py "$root/libkelvin.so.0" "$root/kelvin" "$root/calls.so" "$root/notices" "$out"
      ;;
    tar)
      name=kelvin-$version-linux-$machine
      dev/package/stage.sh "$root/$name" ""
      # The archive may be unpacked anywhere.
      sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$root/$name/lib/pkgconfig/kelvin.pc"
      tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$root" -c "$name" \
        | gzip -n -9 > "$out/$name.tar.gz"
      echo "$out/$name.tar.gz"
      ;;
    deb)
      arch=$(dpkg --print-architecture)
      dev/package/stage.sh "$root" /usr "lib/$machine-linux-gnu"
      gzip -n -9 "$root/usr/share/man/man1/kelvin.1"
      mkdir -p "$root/DEBIAN"
      glibc=$(objdump -T "$root/usr/bin/kelvin" "$root/usr/lib/$machine-linux-gnu/libkelvin.so.0" \
        | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -1 | sed 's/GLIBC_//')
      cat > "$root/DEBIAN/control" <<CONTROL
Package: kelvin
Version: $version
Architecture: $arch
Maintainer: The Kelvin authors <kelvin@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= $glibc), libstdc++6, libgcc-s1
Recommends: libopenblas0, libvips42, libsqlite3-0, libzstd1, libcurl4
Suggests: ffmpeg, mesa-vulkan-drivers, ocl-icd-libopencl1, pocl-opencl-icd
Section: science
Priority: optional
Description: runs Core ML and ONNX models
 Kelvin runs Core ML and ONNX models on the CPU, Vulkan and OpenCL, measures what
 every layer costs on every device, and shows which device runs which layer, and
 why. With its C library and header.
CONTROL
      find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
      dpkg-deb --root-owner-group -Zxz --build "$root" "$out/kelvin_${version}_$arch.deb" > /dev/null
      echo "$out/kelvin_${version}_$arch.deb"
      ;;
    bundle)
      # The content of a SwiftPM binary target: the program for plugins, and the C library as the module CKelvin.
      bundle=$root/kelvin.artifactbundle
      install -d "$bundle/bin" "$bundle/lib" "$bundle/include"
      strip -o "$bundle/bin/kelvin" .build/release/kelvin
      dev/package/static-library.sh "$bundle/lib/libkelvin.a"
      install -m 644 Sources/CKelvin/include/kelvin.h "$bundle/include"
      install -m 644 LICENSE "$bundle"
      dev/package/notices.py "$bundle" .build/release/kelvin .build/release/libKelvinC.so
      printf 'module CKelvin {\n  header "kelvin.h"\n  link "stdc++"\n  link "m"\n  export *\n}\n' \
        > "$bundle/include/module.modulemap"
      cat > "$bundle/info.json" <<INFO
{
  "schemaVersion": "1.0",
  "artifacts": {
    "kelvin": {
      "type": "executable",
      "version": "$version",
      "variants": [{"path": "bin/kelvin", "supportedTriples": ["$machine-unknown-linux-gnu"]}]
    },
    "CKelvin": {
      "type": "staticLibrary",
      "version": "$version",
      "variants": [{
        "path": "lib/libkelvin.a",
        "supportedTriples": ["$machine-unknown-linux-gnu"],
        "staticLibraryMetadata": {"headerPaths": ["include"], "moduleMapPath": "include/module.modulemap"}
      }]
    }
  }
}
INFO
      find "$bundle" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
      archive=$PWD/$out/kelvin-$version-$machine.artifactbundle.zip
      rm -f "$archive"
      (cd "$root" && find kelvin.artifactbundle -type f | LC_ALL=C sort | TZ=UTC zip -q -X "$archive" -@)
      echo "$out/${archive##*/}"
      ;;
    plugin)
      # The Swift package with the plugin KelvinModels, and the program that the plugin runs.
      package=$root/KelvinModels
      bundle=$package/kelvin.artifactbundle
      for file in Package.swift Plugins/KelvinModels/KelvinModels.swift; do
        install -D -m 644 "Plugin/$file" "$package/$file"
      done
      install -d "$bundle/bin"
      strip -o "$bundle/bin/kelvin" .build/release/kelvin
      install -m 644 LICENSE "$bundle"
      dev/package/notices.py "$bundle" .build/release/kelvin
      cat > "$bundle/info.json" <<INFO
{
  "schemaVersion": "1.0",
  "artifacts": {
    "kelvin": {
      "type": "executable",
      "version": "$version",
      "variants": [{"path": "bin/kelvin", "supportedTriples": ["$machine-unknown-linux-gnu"]}]
    }
  }
}
INFO
      find "$package" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
      archive=$PWD/$out/kelvin-models-$version-$machine.zip
      rm -f "$archive"
      (cd "$root" && find KelvinModels -type f | LC_ALL=C sort | TZ=UTC zip -q -X "$archive" -@)
      echo "$out/${archive##*/}"
      ;;
    *) echo "$0: '$kind' is none of wheel, deb, tar, bundle and plugin" >&2; exit 64 ;;
  esac
done

(cd "$out" && find . -maxdepth 1 -type f -name 'kelvin*' -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum > SHA256SUMS)
rm -f "$out/SHA256SUMS.asc"
[ -z "${KELVIN_SIGNING_KEY:-}" ] \
  || gpg --batch --yes --armor --detach-sign --local-user "$KELVIN_SIGNING_KEY" "$out/SHA256SUMS"
