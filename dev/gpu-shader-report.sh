#!/usr/bin/env bash
# Reports on GPU kernels without a GPU, with the offline compilers for AMD's and Intel's GPUs and other drivers that
# compute on the CPU. Packages from Debian and PyPI are unpacked into .build-shader-report, not installed.
#
#   dev/gpu-shader-report.sh table           compile every kernel of six models, write docs/gpu-shader-report.md
#   dev/gpu-shader-report.sh bars            the same; print the kernels that miss a bar and fail if there are any
#   dev/gpu-shader-report.sh conformance     the conformance suites on lavapipe, the latest one too, and SwiftShader,
#   and on
#                                            Intel's OpenCL for CPUs
#   dev/gpu-shader-report.sh on DRIVER COMMAND…
#                                            a command on one of them: lavapipe, lavapipe-latest, swiftshader,
#                                            intel-cpu, or
#                                            the name of a GPU
#
# Needs a build (make build; for conformance make test), gcc, apt-get with Debian's backports, python3 with onnx; for
# the latest lavapipe debootstrap and root.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$PWD/.build-shader-report
kelvin=${KELVIN:-$PWD/.build/release/kelvin}
amd=(navi21 navi31 polaris10 renoir)
intel=(skl tgllp)
models=(mobilenet_v2 resnet50 vit_b16 unet matmuls perceptron_float16)
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
  gcc -O1 -shared -fPIC -fvisibility=hidden dev/gpu-shader-report/layer.c -o "$scratch/liblayer.so"
  cat > "$scratch/layer.json" << JSON
{"file_format_version": "1.0.0", "layer": {"name": "VK_LAYER_KELVIN_shader_report", "type": "GLOBAL",
  "library_path": "$scratch/liblayer.so", "api_version": "1.3.239", "implementation_version": "1",
  "description": "what compilers make of compute pipelines"}}
JSON
}

# Installs a lavapipe with cooperative matrices, which needs a newer system around it.
install_latest() {
  [ ! -e "$scratch/latest.done" ] || return 0
  rm -rf "$scratch/latest"
  debootstrap --variant=minbase --include=mesa-vulkan-drivers,libvulkan1 sid "$scratch/latest" "$mirror" > /dev/null
  touch "$scratch/latest.done"
}

# Runs a command in that system, which sees this folder and the toolchain.
in_latest() {
  local toolchain
  toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
  mkdir -p "$scratch/latest$PWD" "$scratch/latest$toolchain"
  # shellcheck disable=SC2016
  unshare --mount bash -c '
    root=$1 folder=$2 toolchain=$3
    mount --bind "$folder" "$root$folder"
    mount --bind "$toolchain" "$root$toolchain"
    mount --bind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    exec chroot "$root" bash -c '\''cd "$0" && exec "$@"'\'' "$folder" "${@:4}"
  ' bash "$scratch/latest" "$PWD" "$toolchain" "$@"
}

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
    *)
      install_mesa
      LD_LIBRARY_PATH=$mesa VK_ICD_FILENAMES=$scratch/radeon.json AMDGPU_GPU_ID=$driver \
        LD_PRELOAD=$mesa/libamdgpu_noop_drm_shim.so "$@"
      ;;
  esac
}

predict() { "$kelvin" predict "$1" --units "$2" --strict --no-cache --seed 1 --output-dir "$scratch/out" > /dev/null; }

# Results are zeros: the stand-in computes nothing.
compile_amd() {
  local gpu model
  for gpu in "${amd[@]}"; do
    for model in "${models[@]}"; do
      KELVIN_SHADER_REPORT_LOG=$scratch/logs/$gpu.$model.jsonl VK_LAYER_PATH=$scratch VK_INSTANCE_LAYERS=VK_LAYER_KELVIN_shader_report \
        on "$gpu" predict "bench/cache/$model.onnx" vulkan:0
    done
  done
}

compile_intel() {
  local gpu model program
  for model in "${models[@]}"; do
    local programs=$scratch/programs/$model
    rm -rf "$programs" && mkdir -p "$programs"
    KELVIN_SHADER_REPORT_FOLDER=$programs LD_LIBRARY_PATH=$scratch/loader predict "bench/cache/$model.onnx" opencl:0
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
  install_intel
  rm -rf "$scratch/logs" && mkdir -p "$scratch/logs"
  compile_amd
  compile_intel
}

# Cases run one after another: a driver compiles on the single thread of its queue, so parallel cases would time out.
suite() { # DRIVER TARGET
  echo "== $2 on $1"
  on "$1" env KELVIN_SLOW_TESTS=1 KELVIN_POISON_MEMORY=255 "${KELVIN_SCRATCH:-.build}/release/KelvinPackageTests.xctest" \
    --testing-library swift-testing --no-parallel --filter "^$2\\." 2>&1 | tee "$scratch/$1.log" | grep -E 'Test run with|recorded an issue|failed after' || true
  grep -q 'Test run with .* passed' "$scratch/$1.log"
}

mkdir -p "$scratch"
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
  conformance)
    status=0
    suite lavapipe KelvinVulkanTests || status=1
    suite lavapipe-latest KelvinVulkanTests || status=1
    suite swiftshader KelvinVulkanTests || status=1
    suite intel-cpu KelvinOpenCLTests || status=1
    exit $status
    ;;
  on) on "${@:2}" ;;
  *) echo "usage: dev/gpu-shader-report.sh table | bars | conformance | on DRIVER COMMAND…" >&2; exit 64 ;;
esac
