#!/usr/bin/env bash
# Shows Kelvin's main functions on its embedded model: classify images, show the device of each layer and the reason,
# compare compute units under a stream, and recommend configurations. Every line after a prompt is a command that also
# works with other models.
set -euo pipefail
cd "$(dirname "$0")/.."

kelvin=.build/release/kelvin
model=Examples/Digits/Digits.mlpackage
images=Examples/Digits/images

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
  printf '\n$ kelvin'
  printf ' %s' "$@"
  printf '\n'
  "$kelvin" "$@"
}
has() { "$kelvin" devices --json | tr -d ' \n' | grep -q "\"id\":\"$1\""; }

say '1. What can compute here?'
run devices

say '2. What is in the images? (a small network that reads handwritten digits)'
run classify "$model" --top 2 "$images"/7_*.png "$images"/3_*.jpg

units=(cpu)
for device in vulkan:0 opencl:0; do
  if has "$device"; then units+=("$device"); fi
done
mixed=$(IFS=,; echo "${units[*]}")

say '3. What does every layer cost on every device? (measured now, kept for later plans)'
run profile "$model" --units "$mixed"

say '4. So which device should run which layer, and why?'
run plan "$model" --units "$mixed"

choices=()
for unit in "${units[@]}"; do choices+=(--units "$unit"); done
if [ ${#units[@]} -gt 1 ]; then choices+=(--units "$mixed"); fi

say '5. For a stream of 30 images a second: is it sustained, and does it drift?'
run bench "$model" --workload stream --fps 30 --duration 4 "${choices[@]}"

say '6. And on a machine with a discrete GPU? (a sample profile, not a measurement: its graph is planned from it alone)'
run plan --profile sample-discrete-gpu

say '   ... and what if its card sat behind PCIe 3.0 with four lanes?'
run plan --profile sample-discrete-gpu --link cpu:vulkan:0=3.2GB/s,15us

say '7. So what should I pick: for one image, for that stream, for a pile of images, for an hour of it on a phone?'
run advise "$model" --for 1h --envelope phone --stream 30 --photo --throughput --budget 35 "${choices[@]}" \
  --report demo-report.html

say 'The whole story with charts is in demo-report.html'
