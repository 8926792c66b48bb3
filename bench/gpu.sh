#!/usr/bin/env bash
# Measures Kelvin on a borrowed GPU within ten minutes: first correct results, then times against a peer, then the
# products' share of a plain shader's rate, then first results and the memory of weights.
#
#   bench/gpu.sh prepare          install, build and make everything that the rest needs; only this part uses a network
#   bench/gpu.sh DEVICE [NAME]    a device of `kelvin devices`: vulkan:0, opencl:0; writes bench/results/gpu-NAME.md
#
# Needs python3 and Swift; for times against ncnn the packages of bench/requirements.txt, for the plain shader cc, glslc
# and libvulkan-dev. A part that lacks something, fails or takes too long is left out, and the page says so. KELVIN
# names another binary.
set -uo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
limit=600
kelvin=${KELVIN:-$PWD/.build/release/kelvin}
python=bench/.venv/bin/python
parts=$PWD/bench/cache/gpu

prepare() {
  set -e
  swift build -c release --build-tests
  [ -x $python ] || python3 -m venv bench/.venv
  $python -m pip install -q -r bench/requirements.txt
  $python bench/models.py bench/cache squeezenet mobilenet_v2 resnet50 vit_b16 minilm unet
  cd bench
  "../$python" -c 'import plain_shader, catalog; plain_shader.build(catalog.CACHE / "plain_shader")'
}

# part TITLE SECONDS NAME COMMAND…: writes the command's output to NAME.md, or the reason why there is none
part() {
  local title=$1 seconds=$2 name=$3 left status=0
  shift 3
  left=$((limit - SECONDS))
  [ "$seconds" -le "$left" ] || seconds=$left
  printf '\n## %s\n\n' "$title" >> "$page"
  rm -f "$parts/$name.md"
  echo "$title …" >&2
  if [ "$seconds" -lt 5 ]; then
    echo "Left out: the $limit s are over." >> "$page"
    return
  fi
  local begin=$SECONDS
  timeout "$seconds" "$@" > "$parts/$name.log" 2>&1 || status=$?
  [ ! -e "$parts/$name.md" ] || cat "$parts/$name.md" >> "$page"
  case $status in
    0) ;;
    124) echo "Stopped: not done within $seconds s." >> "$page" ;;
    *) printf 'Failed (status %s): %s\n' "$status" "$(tail -1 "$parts/$name.log")" >> "$page" ;;
  esac
  printf '\n%s s.\n' $((SECONDS - begin)) >> "$page"
}

conformance() { # TARGET
  if [ ! -e .build/release/KelvinPackageTests.xctest ]; then
    echo "the tests are not built: bench/gpu.sh prepare"
    return 1
  fi
  local log=$parts/suite.log status=0
  KELVIN_SLOW_TESTS=1 KELVIN_POISON_MEMORY=255 swift test -c release --disable-testable-imports --skip-build \
    --filter "^$1\\..*ConformanceTests/" > "$log" 2>&1 || status=$?
  grep -E 'Test run with' "$log" | sed 's/^[^A-Za-z]*//' > "$parts/conformance.md"
  grep -E 'recorded an issue' "$log" | head -20 | cut -c1-300 | sed 's/^[^A-Za-z]*/- /' >> "$parts/conformance.md"
  tail -1 "$log"
  return $status
}

measure() { # DEVICE [NAME]
  local device=$1 about name kind title driver slug rounds=3 iterations=20 seconds=0.5 tune=--tune
  about=$("$kelvin" devices --json | python3 -c 'import json, sys
for each in json.load(sys.stdin):
    if each["id"] == sys.argv[1] and each["available"]:
        print(each["kind"], each["name"], each["driver"], sep="\n")' "$device") || exit
  [ -n "$about" ] || { echo "gpu.sh: there is no '$device' here: kelvin devices" >&2; exit 69; }
  { read -r kind; read -r title; read -r driver; } <<< "$about"
  slug=${2:-$(echo "${device%%:*} $title" | tr 'A-Z' 'a-z' | sed 's/([^)]*)//g; s/[^a-z0-9]\+/-/g; s/^-\|-$//g')}
  [ -x $python ] || python=python3
  [ "$kind" != software ] || { rounds=1; iterations=3; seconds=0.3; tune=; }
  mkdir -p "$parts"
  page=$parts/page.md
  printf '# Kelvin on %s\n\n%s, %s, %s; %s, commit %s, %s processors.\n' "$title" "$device" "$driver" "$kind" \
    "$(date +%F)" "$(git rev-parse --short HEAD 2> /dev/null || echo unknown)" "$(nproc)" > "$page"
  local here=(--kelvin "$kelvin")
  part "Outputs of networks" 120 agreement $python bench/gpu_agreement.py "${here[@]}" --device "$device" \
    --name ../cache/gpu/agreement
  local target=KelvinVulkanTests
  [ "${device%%:*}" = vulkan ] || target=KelvinOpenCLTests
  part "Conformance, all devices of the kind and imitations of them" 150 conformance bash bench/gpu.sh conformance $target
  part "Against a peer" 240 peers $python bench/peers.py "${here[@]}" --only "${device%%:*}" --device "$device" \
    $tune --rounds $rounds --iterations $iterations --seconds $seconds --name ../cache/gpu/peers
  if [ "${device%%:*}" = vulkan ]; then
    part "Rates" 150 rates $python bench/gpu_rates.py "${here[@]}" --device "$device" $tune --rounds 1 --budget 2 --seconds $seconds \
      --name ../cache/gpu/rates
  else
    printf '\n## Rates\n\nLeft out: the plain shader is for Vulkan.\n' >> "$page"
  fi
  part "First results" 120 starts $python bench/gpu_starts.py "${here[@]}" --devices "$device" --rounds 1 \
    --name ../cache/gpu/starts
  part "Memory of weights" 60 weights $python bench/device_weights.py "${here[@]}" --devices "$device" \
    --name ../cache/gpu/weights
  printf '\n%s s in all.\n' "$SECONDS" >> "$page"
  cp "$page" "bench/results/gpu-$slug.md"
  echo "bench/results/gpu-$slug.md"
}

case "${1:-}" in
  prepare) prepare ;;
  conformance) conformance "$2" ;;
  *:*)
    [ -x "$kelvin" ] || { echo "gpu.sh: $kelvin is not there: bench/gpu.sh prepare, or name it with KELVIN" >&2; exit 69; }
    measure "$@"
    ;;
  *) echo "usage: bench/gpu.sh prepare | DEVICE [NAME]" >&2; exit 64 ;;
esac
