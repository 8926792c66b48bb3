#!/usr/bin/env bash
# Makes an operator in a copy of the sources, as dev/new-operator.sh and its page say, and checks the result: every file and
# list that the page names, and that Swift, C and GLSL compile. Takes seconds, builds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
page=docs/development/adding-an-operator.md
failed=0
complain() { echo "new-operator: $*" >&2; failed=1; }

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/docs/development" "$copy/Tests"
cp -r Sources Shaders dev "$copy/"
cp -r Tests/KelvinGPUTests "$copy/Tests/"
cp docs/operators.md docs/coverage.md "$copy/docs/"
cp "$page" "$copy/docs/development/"
cd "$copy"
made=$(dev/new-operator.sh WaveFront | sed -n 's/^  //p')

# The page's first table has the files, its second the lists; both write the name as `Op` and `op`.
named=$(sed -n 's/^| `\([^`]*\)`.*/\1/p' "$page" | sed -e 's/Op\b/WaveFront/' -e 's/\bop\b/wave_front/' -e 's/ck_op/ck_wave_front/')
diff <(sort <<<"$named") <(sort <<<"$made") >&2 || complain "$page does not name what dev/new-operator.sh makes (<: the page)"
for file in $made; do
  [ -s "$file" ] || complain "$file was not made"
done
while IFS= read -r file; do
  grep -qiE 'wave_?front' "$file" || complain "$file does not name the operator"
done < <(grep -v wave_front <<<"$made" | sort -u)
while IFS= read -r path; do
  [ -e "$path" ] || compgen -G "$path" >/dev/null || complain "$page names $path, which is not there"
done < <(grep -oE '`(Sources|Tests|dev|docs|Shaders)/[A-Za-z0-9_+./*-]+`' "$page" | tr -d '`' | grep -vE '\bOp\.|/op\.|ck_op|^Tests/')

grep -v '^#' Shaders/variants.txt | cut -d' ' -f1 | sort -c || complain "Shaders/variants.txt is not sorted"

clang -fsyntax-only -Wall -Werror -std=gnu2x -ISources/CKelvinKernels/include -ISources/CKelvinKernels \
  Sources/CKelvinKernels/wave_front.c || complain "the C kernel does not compile"
if command -v glslc >/dev/null; then
  printf '#version 450\n#extension GL_GOOGLE_include_directive : require\n' >shader.comp
  printf '#include "%s"\n' dialect.glsl shared/wave_front.kernel >>shader.comp
  glslc --target-env=vulkan1.1 -Werror -IShaders shader.comp -o /dev/null || complain "the shader does not compile"
fi

# Swift: each module's interface in turn, then the new file of each device against them.
modules="$copy/modules"
mkdir "$modules"
for c in CKelvinSupport CKelvinKernels CKelvinShaders; do
  mkdir "$modules/$c"
  printf 'module %s { umbrella header "%s" export * }\n' "$c" "$copy/Sources/$c/include/$c.h" >"$modules/$c/module.modulemap"
done
flags=(-swift-version 6 -package-name kelvin -I "$modules" -I "$modules/CKelvinSupport" -I "$modules/CKelvinKernels"
  -I "$modules/CKelvinShaders" -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -warnings-as-errors)
sources() { find "Sources/$1" -name '*.swift'; }
for module in KelvinBasics KelvinGraph KelvinDevices KelvinGPU; do
  # shellcheck disable=SC2046
  swiftc -emit-module -module-name "$module" -emit-module-path "$modules/$module.swiftmodule" "${flags[@]}" \
    -Xfrontend -experimental-skip-all-function-bodies -parse-as-library $(sources "$module") || complain "$module does not compile"
done
typecheck() {  # module, new file
  local others
  others=$(sources "$1" | grep -vF "$2")
  # shellcheck disable=SC2086
  swiftc -frontend -typecheck -module-name "$1" "${flags[@]}" -primary-file "$2" $others -parse-as-library \
    || complain "$2 does not compile"
}
for file in $(grep '^Sources/.*\.swift$' <<<"$made" | grep -v Catalog); do
  typecheck "$(cut -d/ -f2 <<<"$file")" "$file"
done
exit $failed
