#!/usr/bin/env bash
# Installs the Debian packages that building, testing and the demo need. Does nothing if all of them are installed.
# Without root or sudo it prints the one command to run, and fails.
set -euo pipefail

packages=(
  libvulkan-dev            # Vulkan headers and loader
  ocl-icd-opencl-dev       # OpenCL loader
  opencl-headers
  libopenblas-dev          # the portable floor of dense linear algebra
  libxxhash-dev            # detection of damaged files
  libssl-dev               # content keys: SHA-256, linked into the program
  zlib1g-dev               # archives and label maps: DEFLATE, linked into the program
  libvips42                # images
  libsqlite3-0             # indexes of images
  libzstd1                 # archives of models
  libcurl4                 # downloads of models
)
# Software drivers, if there is no GPU with a usable driver.
if ! compgen -G '/dev/dri/renderD*' > /dev/null && ! [ -e /dev/nvidia0 ]; then
  packages+=(mesa-vulkan-drivers pocl-opencl-icd)
fi
if [ "${1:-}" = --tests ]; then
  # Tests open reports in a browser, and compare archives and signatures with those of other programs.
  packages+=(vulkan-validationlayers chromium python3 python3-numpy sqlite3 zstd openssl)
  # Tests of videos make clips and compare frames with ffprobe's.
  packages+=(ffmpeg)
  # Kernels for aarch64 run under an emulator.
  [ "$(uname -m)" = aarch64 ] || packages+=(qemu-user libc6-dev-arm64-cross)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get > /dev/null; then
  echo "These Debian packages are needed, and this system has no apt-get: ${missing[*]}" >&2
  exit 69
fi
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
  sudo=()
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  sudo=(sudo)
else
  echo "Packages are missing. Run this once, then try again:" >&2
  echo "  sudo ${install[*]}" >&2
  exit 77
fi
echo "Installing ${missing[*]}"
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -qq > /dev/null
