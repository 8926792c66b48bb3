#!/usr/bin/env bash
# Reports on GPU kernels without a GPU, with compilers for AMD's, NVIDIA's, Intel's, Qualcomm's and Apple's GPUs and
# other drivers that compute on the CPU. Packages from Debian and PyPI are unpacked into .build-shader-report, not
# installed.
#
#   dev/gpu-shader-report.sh table           compile every kernel of seven models, write docs/gpu-shader-report.md
#   dev/gpu-shader-report.sh bars            the same; print what misses a bar and fail if anything does
#   dev/gpu-shader-report.sh estimate MODEL… estimated times of models of bench/models.py on cards, from what RADV's
#                                            replacement of a card is told to do, with the arithmetic;
#                                            PRECISION=low at another precision than full
#   dev/gpu-shader-report.sh count MODEL…    dispatches, barriers, submissions, waits and bytes copied by an inference;
#                                            a decoder's by a token. DRIVER=lavapipe counts where results are right
#   dev/gpu-shader-report.sh conformance     the conformance suites on lavapipe, the latest one too, and SwiftShader,
#   and on
#                                            Intel's OpenCL for CPUs
#   dev/gpu-shader-report.sh on DRIVER COMMAND…
#                                            a command on one of them: lavapipe, lavapipe-latest, swiftshader,
#                                            intel-cpu, or the name of a GPU
#
# Needs a build (make build; for conformance make test), gcc, apt-get with Debian's backports, python3 with onnx; for
# the latest Mesa root. KELVIN names another program, KELVIN_SHADER_REPORT_SCRATCH another folder for what is unpacked.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${KELVIN_SHADER_REPORT_SCRATCH:-$PWD/.build-shader-report}
kelvin=${KELVIN:-$PWD/.build/release/kelvin}
amd=(navi21 navi31 polaris10 renoir)
latest=(turing ampere ada adreno740 apple-m1)
intel=(skl tgllp)
models=(mobilenet_v2 resnet50 vit_b16 unet resnet50_int8 matmuls perceptron_float16)
estimated=(mobilenet_v2 resnet50 vit_b16 unet minilm resnet50_int8 gpt2_shared)
# The card whose choice of kernels and whose memory are estimated and counted, and the memory of an imitated one.
card=navi31
imitated=$((8 << 30))
mesa=$scratch/mesa/usr/lib/x86_64-linux-gnu
ocloc=$scratch/intel/usr/lib/x86_64-linux-gnu
system=/usr/lib/x86_64-linux-gnu
mirror=${KELVIN_DEBIAN_MIRROR:-http://deb.debian.org/debian}

fetch() { # FOLDER, then options and packages of apt-get download
  local folder=$scratch/$1
  shift
  [ ! -e "$folder.done" ] || return 0
  rm -rf "$folder" && mkdir -p "$folder/archives"
  (cd "$folder/archives" && apt-get "$@" 2> >(grep -v unsandboxed >&2) > /dev/null)
  for archive in "$folder"/archives/*.deb; do dpkg -x "$archive" "$folder"; done
  rm -rf "$folder/archives"
  touch "$folder.done"
}

install_mesa() {
  local apt=$scratch/apt driver
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb $mirror bookworm-backports main" > "$apt/sources.list"
  local options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache")
  [ -e "$scratch/mesa.done" ] || apt-get "${options[@]}" update -qq
  fetch mesa "${options[@]}" download mesa-vulkan-drivers mesa-drm-shim libdrm2 libdrm-amdgpu1 libdrm-intel1 \
    libdrm-radeon1 libdrm-nouveau2
  for driver in radeon lvp; do
    sed -E "s#\"library_path\": \"([^\"]*/)?([^\"/]*)\"#\"library_path\": \"$mesa/\2\"#" \
      "$scratch/mesa/usr/share/vulkan/icd.d/${driver}_icd.json" > "$scratch/$driver.json"
  done
  # Another run may be loading the layer.
  gcc -O1 -shared -fPIC -fvisibility=hidden dev/gpu-shader-report/{layer,commands}.c -o "$scratch/liblayer.$$.so"
  mv "$scratch/liblayer.$$.so" "$scratch/liblayer.so"
  cat > "$scratch/layer.json" << JSON
{"file_format_version": "1.0.0", "layer": {"name": "VK_LAYER_KELVIN_shader_report", "type": "GLOBAL",
  "library_path": "$scratch/liblayer.so", "api_version": "1.3.239", "implementation_version": "1",
  "description": "what compilers make of compute pipelines"}}
JSON
}

# Installs the newest Mesa with a system around it: a lavapipe with cooperative matrices, and compilers for NVIDIA's,
# Qualcomm's and Apple's GPUs.
install_latest() {
  [ ! -e "$scratch/latest.done" ] || return 0
  fetch debootstrap download debootstrap
  rm -rf "$scratch/latest"
  DEBOOTSTRAP_DIR=$scratch/debootstrap/usr/share/debootstrap "$scratch/debootstrap/usr/sbin/debootstrap" \
    --variant=minbase --include=mesa-vulkan-drivers,mesa-drm-shim,libvulkan1 sid "$scratch/latest" "$mirror" > /dev/null
  touch "$scratch/latest.done"
}

# Runs a command in that system, which sees this folder, the scratch folder, the program's folder and the toolchain.
in_latest() {
  local toolchain folder
  toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
  for folder in "$PWD" "$scratch" "$(dirname "$kelvin")" "$toolchain"; do mkdir -p "$scratch/latest$folder"; done
  # shellcheck disable=SC2016
  unshare --mount bash -c '
    root=$1
    for folder in "${@:2:4}"; do mount --bind "$folder" "$root$folder"; done
    mount --bind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    exec chroot "$root" bash -c '\''cd "$0" && exec "$@"'\'' "$2" "${@:6}"
  ' bash "$scratch/latest" "$PWD" "$scratch" "$(dirname "$kelvin")" "$toolchain" "$@"
}

# Runs a command with a driver of that system on a replacement of the kernel driver that computes nothing.
on_shim() { # DRIVER, then variables and a command
  local driver=$1
  shift
  install_latest
  install_mesa
  in_latest env "LD_PRELOAD=$system/lib${driver}_noop_drm_shim.so" MESA_SHADER_CACHE_DISABLE=true \
    "VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/${driver}_icd.json" "$@"
}

# Swift finds its arguments before the environment, which the replacement would move if it had to add this variable.
on_nvidia() { on_shim nouveau NOUVEAU_DISABLE_FENCES=true "NOUVEAU_CHIPSET=$1" "${@:2}"; }

install_intel() {
  fetch intel download intel-opencl-icd libigc1 libigdfcl1 libigdgmm12 libopencl-clang14 libllvmspirvlib14 libllvm14 \
    libclang-cpp14
  # ocloc looks for the disassembler by the name that only a development package has.
  ln -sf libiga64.so.1 "$ocloc/libiga64.so"
  # A stub loader that needs the system's loader; the linker finds the latter by its path alone.
  mkdir -p "$scratch/loader"
  gcc -shared -x c /dev/null -Wl,-soname,$system/libOpenCL.so.1 -o "$scratch/real.so"
  gcc -O1 -shared -fPIC dev/gpu-shader-report/opencl.c -o "$scratch/loader/libOpenCL.so.1" \
    -Wl,--no-as-needed,-soname,libkelvin-judge.so "$scratch/real.so"
}

install_swiftshader() {
  fetch swiftshader download chromium-common
  local library
  library=$(find "$scratch/swiftshader" -name libvk_swiftshader.so)
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.0.5"}}\n' "$library" \
    > "$scratch/swiftshader.json"
}

install_intel_cpu() {
  [ ! -e "$scratch/intel-cpu.done" ] || return 0
  python3 -m venv --clear "$scratch/intel-cpu"
  "$scratch/intel-cpu/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt
  mkdir -p "$scratch/intel-cpu/vendors" "$scratch/intel-cpu/libraries"
  echo "$scratch/intel-cpu/lib/libintelocl.so" > "$scratch/intel-cpu/vendors/intel.icd"
  # Links all libraries but the loader that comes with them.
  for library in "$scratch"/intel-cpu/lib/*.so*; do
    case $library in */libOpenCL*) ;; *) ln -sf "$library" "$scratch/intel-cpu/libraries/" ;; esac
  done
  touch "$scratch/intel-cpu.done"
}

# Runs a command with another driver than the system's.
on() {
  local driver=$1
  shift
  case $driver in
    lavapipe) install_mesa; LD_LIBRARY_PATH=$mesa VK_ICD_FILENAMES=$scratch/lvp.json "$@" ;;
    lavapipe-latest) install_latest; in_latest env VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp_icd.json "$@" ;;
    swiftshader) install_swiftshader; VK_ICD_FILENAMES=$scratch/swiftshader.json "$@" ;;
    intel-cpu)
      install_intel_cpu
      LD_LIBRARY_PATH=$scratch/intel-cpu/libraries OCL_ICD_VENDORS=$scratch/intel-cpu/vendors "$@"
      ;;
    turing) on_nvidia 164 "$@" ;;
    ampere) on_nvidia 172 "$@" ;;
    ada) on_nvidia 192 "$@" ;;
    adreno740) on_shim freedreno FD_GPU_ID=740 "$@" ;;
    apple-m1) on_shim asahi "$@" ;;
    *)
      install_mesa
      LD_LIBRARY_PATH=$mesa VK_ICD_FILENAMES=$scratch/radeon.json AMDGPU_GPU_ID=$driver \
        LD_PRELOAD=$mesa/libamdgpu_noop_drm_shim.so "$@"
      ;;
  esac
}

# Ends before the device and the model.
predict=("$kelvin" predict --strict --no-canary --no-cache --seed 1 --output-dir "$scratch/out" --units)

# Runs a command with the layer, which writes to a log.
logged() { # LOG DRIVER COMMAND…
  KELVIN_SHADER_REPORT_LOG=$1 VK_LAYER_PATH=$scratch VK_INSTANCE_LAYERS=VK_LAYER_KELVIN_shader_report on "${@:2}"
}

# Results are zeros: the replacements of kernel drivers compute nothing.
compile_vulkan() {
  local gpu model
  for gpu in "${amd[@]}" "${latest[@]}"; do
    for model in "${models[@]}"; do
      logged "$scratch/logs/$gpu.$model.jsonl" "$gpu" "${predict[@]}" vulkan:0 "bench/cache/$model.onnx" > /dev/null
    done
  done
}

# Logs several inferences of models, or of a decoder several tokens, in the folder of a precision.
log_inferences() { # DRIVER PRECISION MODEL…
  local model workload folder=$scratch/inferences/$2
  install_mesa
  python3 bench/models.py bench/cache "${@:3}" > /dev/null
  rm -rf "$folder" && mkdir -p "$folder"
  for model in "${@:3}"; do
    workload=(--workload one-shot --iterations 5 --rounds 1 --warm-seconds 1ms)
    case $model in
      gpt2_*) workload=(--workload tokens --prompt 4 --tokens 8) ;;
      minilm) workload+=(--shape ids=1x128 --shape mask=1x128) ;;
    esac
    logged "$folder/$model.jsonl" "$1" "$kelvin" bench "bench/cache/$model.onnx" --units vulkan:0 --strict \
      --precision "$2" --no-canary --no-cache --no-agreement "${workload[@]}" > "$folder/$model.log" 2>&1 ||
      { cat "$folder/$model.log" >&2; return 1; }
  done
}

compile_intel() {
  local gpu model program
  for model in "${models[@]}"; do
    local programs=$scratch/programs/$model
    rm -rf "$programs" && mkdir -p "$programs"
    KELVIN_SHADER_REPORT_FOLDER=$programs LD_LIBRARY_PATH=$scratch/loader "${predict[@]}" opencl:0 \
      "bench/cache/$model.onnx" > /dev/null
    for gpu in "${intel[@]}"; do
      for program in "$programs"/*.cl; do
        local made=${program%.cl}.$gpu
        mkdir -p "$made"
        (
          export LD_LIBRARY_PATH=$ocloc
          "$scratch/intel/usr/bin/ocloc" compile -file "$program" -device "$gpu" -options "$(cat "${program%.cl}.options")" \
            -output "$made/binary" > "$made/log" 2>&1 || { cat "$made/log" >&2; exit 1; }
          "$scratch/intel/usr/bin/ocloc" disasm -file "$made"/binary*.bin -device "$gpu" -dump "$made/dump" > /dev/null 2>&1
        )
      done
    done
  done
}

judge() { # COMMAND of table.py
  python3 dev/gpu-shader-report/table.py "$1" Shaders/spv "$scratch"
}

compile() {
  python3 bench/models.py bench/cache "${models[@]}" > /dev/null
  install_mesa
  install_latest
  install_intel
  rm -rf "$scratch/logs" && mkdir -p "$scratch/logs"
  compile_vulkan
  compile_intel
  log_inferences "$card" full "${estimated[@]}"
  log_inferences "$card" low "${estimated[@]}"
}

# Cases run one after another: a driver compiles on the single thread of its queue, so parallel cases would time out.
suite() { # DRIVER TARGET
  echo "== $2 on $1"
  on "$1" env KELVIN_SLOW_TESTS=1 KELVIN_POISON_MEMORY=255 "${KELVIN_SCRATCH:-.build}/release/KelvinPackageTests.xctest" \
    --testing-library swift-testing --no-parallel --filter "^$2\\." 2>&1 | tee "$scratch/$1.log" | grep -E 'Test run with|recorded an issue|failed after' || true
  grep -q 'Test run with .* passed' "$scratch/$1.log"
}

mkdir -p "$scratch"
precision=${PRECISION:-full}
case "${1:-}" in
  table)
    compile
    judge table > "$scratch/gpu-shader-report.md"
    mv "$scratch/gpu-shader-report.md" docs/gpu-shader-report.md
    ;;
  bars)
    compile
    judge bars
    ;;
  estimate)
    log_inferences "$card" "$precision" "${@:2}"
    python3 dev/gpu-shader-report/estimate.py Shaders/spv "$scratch/inferences/$precision"/*.jsonl
    ;;
  count)
    # Software drivers appear to be a card, whose kernels they then run.
    case ${DRIVER:-$card} in lavapipe*) export KELVIN_SHADER_REPORT_MEMORY=$imitated ;; esac
    log_inferences "${DRIVER:-$card}" "$precision" "${@:2}"
    python3 dev/gpu-shader-report/commands.py "$scratch/inferences/$precision"/*.jsonl
    ;;
  conformance)
    status=0
    suite lavapipe KelvinVulkanTests || status=1
    suite lavapipe-latest KelvinVulkanTests || status=1
    suite swiftshader KelvinVulkanTests || status=1
    suite intel-cpu KelvinOpenCLTests || status=1
    exit $status
    ;;
  on) on "${@:2}" ;;
  *) echo "usage: dev/gpu-shader-report.sh table | bars | estimate MODEL… | count MODEL… | conformance | on DRIVER COMMAND…" >&2; exit 64 ;;
esac
