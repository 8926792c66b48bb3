"""Cases of weights of 1 to 8 bits, linear and by lookup table, as coremltools quantizes and expands them; see layers.py."""

import copy

import numpy as np
from coremltools.models.neural_network import quantization_utils
from coremltools.proto import NeuralNetwork_pb2

from layers import B, W, case

for mode in ["_linear_quantization", "_lookup_table_quantization_linear"]:
    for bits in range(1, 9):
        stored = NeuralNetwork_pb2.WeightParams()
        stored.floatValue.extend(W.flatten())
        quantization_utils._quantize_wp_field(stored, bits, mode, W.shape)
        expanded = copy.deepcopy(stored)
        quantization_utils._dequantize_wp(expanded, W.shape)
        matrix = np.array(expanded.floatValue).reshape(W.shape)

        def build(nn, stored=stored):
            nn.add_inner_product("i", W, B, 12, 5, True, "x", "y")
            nn.nn_spec.layers[-1].innerProduct.weights.CopyFrom(stored)

        case(f"weights{mode}_{bits}", {"x": (3, 12)}, lambda x, m=matrix: [x @ m.T + B], build)
