#!/usr/bin/env bash
# Makes the README's images from the release build's output: a comparison of compute units on MobileNetV2 (on the
# embedded model if ../shared is not available), measured now on this machine, and the plan for the sample machine with
# a discrete GPU. Needs chromium; takes about five minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

kelvin=$(realpath "${KELVIN:-.build/release/kelvin}")
model=${KELVIN_SHARED:-../shared}/models/MobileNetV2_f32.onnx
[ -e "$model" ] || model=Examples/Digits/Digits.mlpackage
folder=$(dirname "$model")
model=$(basename "$model")
sample=Profiles/devices/sample-discrete-gpu.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p docs/images

units=(--units cpu-only)
mixed=cpu
for device in vulkan:0 opencl:0; do
  if "$kelvin" devices --json | tr -d ' \n' | grep -q "\"id\":\"$device\""; then
    units+=(--units "$device")
    mixed+=",$device"
  fi
done
[ ${#units[@]} -gt 2 ] && units+=(--units "$mixed")

(
  cd "$folder"
  "$kelvin" profile "$model" --units "$mixed" > /dev/null
  "$kelvin" advise "$model" --envelope phone "${units[@]}" --report "$work/advise.html" > /dev/null
)
"$kelvin" plan --profile "$sample" --report "$work/plan.html" > /dev/null

dev/page.py check "$work/advise.html" > /dev/null
dev/page.py check "$work/plan.html" > /dev/null
dev/page.py image "$work/advise.html" docs/images/report.png --width 1120 --select .verdict --to .verdict
dev/page.py image "$work/plan.html" docs/images/plan.png --width 1120 --select .canvas --most 640
if command -v pngquant > /dev/null; then pngquant --force --ext .png 128 docs/images/*.png; fi
for image in docs/images/{report,plan}.png; do
  size=$(stat -c %s "$image")
  [ "$size" -lt 200000 ] || { echo "images: $image has $size bytes, expected below 200000" >&2; exit 1; }
done
