#!/usr/bin/env bash
# Compiles Shaders/*.comp to Shaders/spv, one module for each row of Shaders/variants.txt, and writes what embeds them
# (Sources/CKelvinShaders/spirv_modules.inc) and the hashes of the sources (Shaders/SOURCES.sha256). Needs glslc.
set -euo pipefail
cd "$(dirname "$0")/../Shaders"
command -v glslc >/dev/null || { echo "glslc is missing: apt-get install glslc" >&2; exit 69; }
mkdir -p spv
rm -f spv/*.spv
table=../Sources/CKelvinShaders/spirv_modules.inc
rows=""
echo "// Written by dev/build-shaders.sh from Shaders/variants.txt." >"$table"
while read -r name source defines; do
  case "$name" in "" | "#"*) continue ;; esac
  # shellcheck disable=SC2086
  glslc -O --target-env=vulkan1.1 -Werror $defines "$source" -o "spv/$name.spv"
  printf 'alignas(4) static const unsigned char spirv_%s[] = {\n#embed "../../Shaders/spv/%s.spv"\n};\n' \
    "$name" "$name" >>"$table"
  rows="$rows    {\"$name\", spirv_$name, sizeof spirv_$name},\n"
done <variants.txt
printf 'static const KelvinShader modules[] = {\n%b};\n' "$rows" >>"$table"
sha256sum ./*.comp ./*.glsl variants.txt | sed 's| \./| |' >SOURCES.sha256
