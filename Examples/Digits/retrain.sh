#!/bin/sh
# Trains the digit classifier and rewrites Digits.mlpackage, Digits.onnx, images/ and expected.json. Requires Python
# 3.11. All packages are installed in .venv-digits beside this file.
set -eu
cd "$(dirname "$0")"
[ -d .venv-digits ] || python3 -m venv .venv-digits
.venv-digits/bin/pip install --quiet --requirement requirements.txt
for step in train export_coreml export_onnx make_images; do
  echo "== $step"
  .venv-digits/bin/python "$step.py"
done
