"""Writes the vectors of operators of ONNX Runtime's domain `com.microsoft`: one node each, and what ONNX Runtime computes
on a processor, or the formulas of `formulas.py` for operators that it has for graphics processors only. README.md says more.

    .venv/bin/pip install onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
    .venv/bin/python Tests/Vectors/Microsoft/generate.py
"""

import attentions
import further
import integers
import layers
from nodes import HERE


def main():
    for old in [*HERE.glob("*.onnx"), *HERE.glob("*.kv")]:
        old.unlink()
    for family in [layers.normalizations, layers.activations, layers.products, layers.rotary, layers.others,
                   attentions.merged_attention, attentions.multi_head_attention, attentions.group_query_attention,
                   integers.weights, integers.quantized_layers, integers.mixtures, further.further]:
        family()
    files = [*HERE.glob("*.onnx"), *HERE.glob("*.kv")]
    print(f"{len(files) // 2} cases, {sum(file.stat().st_size for file in files)} bytes")


if __name__ == "__main__":
    main()
