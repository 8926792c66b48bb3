#!/usr/bin/env bash
# Measures Kelvin on a machine with a card within ten minutes, the hardest questions first.
#
#   bench/card.sh prepare           makes .card/, at most 64 MiB, with a build (make build, make test) and a network
#   bench/card.sh run [OUT]         there: measures, and appends to OUT/card.jsonl (by default .card/out)
#   bench/card.sh page OUT [NAME]   writes bench/results/card-NAME.md from OUT/card.jsonl
#
# Needed there: the checkout, .card/, bash, xz, and Python with NumPy, onnx and onnxruntime; for peers PyTorch. A part that
# lacks something, fails or takes too long says so in OUT, and the rest goes on.
#
#   KELVIN                the program to pack or to run              KELVIN_CARD_DEVICE   the device, by default the first card
#   KELVIN_CARD_PYTHON    the machine's version of Python: 3.12      KELVIN_CARD_SECONDS  the limit of all parts: 580
#   PYTHON                the Python that runs the parts: python3
set -uo pipefail
export SWIFT_DETERMINISTIC_HASHING=1  # see Makefile
cd "$(dirname "$0")/.."
pack=$PWD/.card
python=${PYTHON:-python3}
limit=${KELVIN_CARD_SECONDS:-580}
largest=$((64 << 20))

# TITLE, seconds, and the part of card_parts.py
parts=(
  "Agreement|40|agreement"
  "Bounds checks|60|bounds"
  "Floors|20|floors"
  "Accounts|40|accounts"
  "Products|80|products"
  "Peers|130|peers"
  "Precision|40|precision"
  "Tokens|50|tokens"
  "Starts|40|starts"
  "Throughput|40|throughput"
  "Conformance|120|conformance"
)

packed() { # bytes of .card/
  find "$pack" -type f ! -path "$pack/out/*" -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'
}

prepare() {
  set -e
  local release=$PWD/.build/release libraries=() tests
  local kelvin=${KELVIN:-$release/kelvin}
  [ -x "$kelvin" ] || { echo "card.sh: $kelvin is missing: make build, or name it with KELVIN" >&2; exit 69; }
  tests=$(dirname "$kelvin")/KelvinPackageTests.xctest
  rm -rf "$pack" && mkdir -p "$pack/layer"
  strip -s -o "$pack/kelvin" "$kelvin"
  xz -T0 -9 "$pack/kelvin"
  cc -O2 bench/card_floors.c -o "$pack/card_floors" -lvulkan
  cc -O2 -shared -fPIC -fvisibility=hidden bench/card_layer.c -o "$pack/layer/libcard_layer.so"
  (cd bench && $python -c 'import plain_shader, sys; plain_shader.build(sys.argv[1])' "$pack/plain_shader")
  (cd "$pack" && apt-get download -q libvulkan1 > /dev/null)
  $python -m pip download -q --no-deps --only-binary :all: --platform manylinux_2_28_x86_64 \
    --python-version "${KELVIN_CARD_PYTHON:-3.12}" ncnn -d "$pack"
  if [ -e "$tests" ]; then
    mkdir "$pack/tests"
    strip -s -o "$pack/tests/KelvinPackageTests.xctest" "$tests"
    mapfile -t libraries < <(ldd "$tests" | awk '$3 ~ /swift/ { print $3 }')
    cp -L "${libraries[@]}" "$pack/tests"
    strip --strip-unneeded "$pack"/tests/*.so
    tar cf - -C "$pack" tests | xz -T0 -9 > "$pack/tests.tar.xz"
    rm -r "$pack/tests"
    if [ "$(packed)" -gt $largest ]; then
      rm "$pack/tests.tar.xz"
      echo "the test program does not fit in $((largest >> 20)) MiB and is left out"
    fi
  else
    echo "$tests is missing and is left out"
  fi
  echo "$pack: $(packed) bytes of $largest"
  [ "$(packed)" -le $largest ]
}

# Unpacks what is not unpacked yet, and finds the loader and the driver.
unpack() {
  [ -e "$pack/kelvin.xz" ] || [ -n "${KELVIN:-}" ] || { echo "card.sh: .card/ is missing: bench/card.sh prepare" >&2; exit 69; }
  [ -e "$pack/kelvin" ] || [ ! -e "$pack/kelvin.xz" ] || xz -dk "$pack/kelvin.xz"
  [ -d "$pack/tests" ] || [ ! -e "$pack/tests.tar.xz" ] || tar xJf "$pack/tests.tar.xz" -C "$pack" &
  for wheel in "$pack"/*.whl; do
    [ ! -e "$wheel" ] || [ -d "$pack/python" ] || $python -m zipfile -e "$wheel" "$pack/python"
  done
  export PYTHONPATH=$pack/python KELVIN_CACHE_DIR=$pack/cache
  cat > "$pack/layer/card.json" << JSON
{"file_format_version": "1.0.0", "layer": {"name": "VK_LAYER_KELVIN_card", "type": "GLOBAL",
  "library_path": "$pack/layer/libcard_layer.so", "api_version": "1.3.239", "implementation_version": "1",
  "description": "counts what a program asks of the driver, and switches bounds checks"}}
JSON
  local libraries
  libraries=$(ldconfig -p 2> /dev/null || /sbin/ldconfig -p)
  if ! grep -q 'libvulkan\.so\.1' <<< "$libraries"; then
    dpkg -x "$pack"/libvulkan1_*.deb "$pack/loader"
    export LD_LIBRARY_PATH=$pack/loader/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  # A container with NVIDIA's driver may lack the file that names it to Vulkan. The library without X11 suffices.
  local driver
  if [ -z "$(ls /usr/share/vulkan/icd.d/nvidia* /etc/vulkan/icd.d/nvidia* 2> /dev/null)" ]; then
    driver=$(ls /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json 2> /dev/null)
    if [ -z "$driver" ] && grep -q 'libEGL_nvidia\.so\.0' <<< "$libraries"; then
      driver=$pack/nvidia_icd.json
      echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0", "api_version": "1.3.0"}}' > "$driver"
    fi
    [ -z "$driver" ] || export VK_ADD_DRIVER_FILES=$driver
  fi
  export KELVIN=${KELVIN:-$pack/kelvin}
}

# The device, its kind and what the page says of it; hardware OpenCL devices beside it
choose() {
  local chosen
  chosen=$("$KELVIN" devices --json | $python -c 'import json, os, sys
devices = [each for each in json.load(sys.stdin) if each["available"]]
cards = [each for each in devices if each["kind"] not in ("cpu", "software", "reference")]
wanted = os.environ.get("KELVIN_CARD_DEVICE")
ordered = [each for each in cards if each["id"].startswith("vulkan")] + cards
ordered += [each for each in devices if each["id"].startswith("vulkan")]
chosen = next((each for each in (devices if wanted else ordered) if not wanted or each["id"] == wanted), None)
if chosen is None:
    sys.exit("card.sh: there is no device " + (wanted or "for Vulkan or OpenCL") + ": kelvin devices")
print(chosen["id"], chosen["kind"], chosen["name"], chosen["driver"], sep="\n")
print(",".join(each["id"] for each in cards if each["id"].startswith("opencl")))') || exit 69
  { read -r KELVIN_CARD_DEVICE; read -r KELVIN_CARD_KIND; read -r title; read -r driver; read -r KELVIN_CARD_OPENCL; } <<< "$chosen"
  export KELVIN_CARD_DEVICE KELVIN_CARD_KIND KELVIN_CARD_OPENCL
}

note() { # KEY=VALUE…: appends one document
  $python -c 'import json, sys
print(json.dumps(dict(word.split("=", 1) for word in sys.argv[1:])))' "$@" >> "$KELVIN_CARD_OUT/card.jsonl"
}

part() { # TITLE SECONDS NAME
  local title=$1 seconds=$2 name=$3 status=0 begin=$SECONDS ended
  [ "$seconds" -le $((limit - SECONDS)) ] || seconds=$((limit - SECONDS))
  if [ "$seconds" -lt 5 ]; then
    note part="$name" missing="the limit of $limit s is over"
    return
  fi
  echo "$SECONDS s: $title, at most $seconds s …" >&2
  KELVIN_CARD_PART=$name KELVIN_CARD_PART_SECONDS=$seconds timeout -k 2 "$seconds" $python bench/card_parts.py "$name" \
    > "$KELVIN_CARD_OUT/$name.log" 2>&1 || status=$?
  case $status in
    0) ended="Completed" ;;
    124 | 137) ended="Stopped: not done within $seconds s" ;;
    *) ended="Failed with status $status: $(tail -1 "$KELVIN_CARD_OUT/$name.log")" ;;
  esac
  note part="$name" ended="$ended" seconds=$((SECONDS - begin))
}

measure() { # [OUT]
  local title driver models=(squeezenet mobilenet_v2 resnet50 vit_b16 minilm unet gpt2_shared resnet50_int8) name row builders=()
  export KELVIN_CARD_OUT=${1:-$pack/out} KELVIN_CARD_PACK=$pack
  mkdir -p "$KELVIN_CARD_OUT" && KELVIN_CARD_OUT=$(cd "$KELVIN_CARD_OUT" && pwd)
  rm -f "$KELVIN_CARD_OUT/card.jsonl"
  unpack
  choose
  note part=about date="$(date +%F)" title="$title" device="$KELVIN_CARD_DEVICE" kind="$KELVIN_CARD_KIND" driver="$driver" \
    processors="$(nproc)" commit="$(git rev-parse --short HEAD 2> /dev/null || echo unknown)"
  # A rehearsal on a software driver needs few.
  [ "$KELVIN_CARD_KIND" != software ] || models=(squeezenet mobilenet_v2)
  for name in "${models[@]}"; do
    $python bench/models.py bench/cache "$name" > "$KELVIN_CARD_OUT/model-$name.log" 2>&1 &
    builders+=($!)
  done
  for row in "${parts[@]}"; do
    IFS='|' read -r -a row <<< "$row"
    part "${row[@]}"
  done
  kill "${builders[@]}" 2> /dev/null
  tar cJf "$KELVIN_CARD_OUT/logs.tar.xz" -C "$KELVIN_CARD_OUT" --remove-files $(cd "$KELVIN_CARD_OUT" && ls -- *.log)
  echo "$KELVIN_CARD_OUT/card.jsonl: $SECONDS s" >&2
}

case "${1:-}" in
  prepare) prepare ;;
  run) measure "${@:2}" ;;
  page) [ $# -ge 2 ] && (cd bench && $python card_page.py "$(cd .. && realpath "$2")" "${@:3}") ;;
  *) echo "usage: bench/card.sh prepare | run [OUT] | page OUT [NAME]" >&2; exit 64 ;;
esac
