#!/usr/bin/env bash
# Makes every file of a new operator and its lines in every list. They are copies of those of CumulativeReduce, which exists
# on every device. docs/development/adding-an-operator.md says what to change.
#
#   dev/new-operator.sh BitShift
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

name=${1:-}
[[ $# -eq 1 && $name =~ ^[A-Z][A-Za-z0-9]+$ ]] || { echo "usage: dev/new-operator.sh NameOfTheOperator" >&2; exit 64; }
variable="$(tr '[:upper:]' '[:lower:]' <<<"${name:0:1}")${name:1}"
snake=$(sed -E 's/([a-z0-9])([A-Z])/\1_\2/g; s/([A-Z])([A-Z][a-z])/\1_\2/g' <<<"$name" | tr '[:upper:]' '[:lower:]')

rename() {
  sed -e "s/CumulativeReduce/$name/g" -e "s/cumulativeReduce/$variable/g" -e "s/cumulative_reduce/$snake/g"
}

models=$(find Sources Shaders -type f \( -name CumulativeReduce.swift -o -name ck_cumulative_reduce.h \
  -o -name cumulative_reduce.c -o -name cumulative_reduce.kernel \) | sort)
for model in $models; do
  file=$(rename <<<"$model")
  [ ! -e "$file" ] || { echo "$file is there already" >&2; exit 73; }
done
echo "Files, to be written by you:"
for model in $models; do
  file=$(rename <<<"$model")
  rename <"$model" >"$file"
  echo "  $file"
done

# Inserts a line at its position among sorted neighbours.
insert() {  # file, line, pattern of the neighbours
  awk -v line="$2" -v neighbours="$3" '
    { is = $0 ~ neighbours }
    !done && ((is && $0 > line) || (was && !is)) { print line; done = 1 }
    { print; was = is }
    END { if (!done && was) { print line; done = 1 } exit !done }' "$1" >"$1.new" || { rm "$1.new"; echo "$1: no place for '$2'" >&2; exit 70; }
  mv "$1.new" "$1"
  echo "  $1"
}
find_list() {  # pattern of the model's line
  grep -rlE --include='*.swift' "$1" Sources | sort
}

echo "Lists, done:"
for file in $(find_list '^  CumulativeReduce\.self,$'); do insert "$file" "  $name.self," '^  [A-Za-z0-9]+\.self,$'; done
for file in $(find_list '^  table\.addCumulativeReduce\(\)$'); do
  insert "$file" "  table.add$name()" '^  table\.add[A-Za-z0-9]+\(\)$'
done
for file in $(find_list '^      cumulativeReduce,$'); do insert "$file" "      $variable," '^      [A-Za-z0-9]+,$'; done
insert Sources/CKelvinKernels/include/CKelvinKernels.h "#include \"ck_$snake.h\"" '^#include "ck_[a-z_]+\.h"$'
insert Shaders/variants.txt "$(printf '%-35s shared/%s.kernel' "$snake" "$snake")" '^[a-z0-9_]+ +[a-z0-9_/]+\.(comp|kernel)'
# The operator's row, and its section in front of the next one's.
insert docs/operators.md "| [\`$snake\`](#$snake) | yes | yes | yes | yes |" '^\| \[`[a-z0-9_]+`\]'
section=$(awk '/^## / { is_model = $0 == "## `cumulative_reduce`" } is_model' docs/operators.md | rename)
awk -v section="$section" -v heading="## \`$snake\`" \
  '!done && /^## / && ($0 > heading || !/^## `/) { print section "\n"; done = 1 } { print }' docs/operators.md >docs/operators.md.new
mv docs/operators.md.new docs/operators.md
