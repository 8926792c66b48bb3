"""One round of OpenVINO's CPU plugin in a process of its own; prints one JSON line.

Usage: peer_openvino.py MODEL INPUT.npy THREADS ITERATIONS [OUTPUT.npz]
"""

import sys

import numpy as np
import openvino

from timing import measure


def main(model, tensor, threads, iterations, output=None):
    data = np.load(tensor)
    # Processors with bfloat16 would otherwise compute in it.
    settings = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(threads),
                "INFERENCE_PRECISION_HINT": "f32"}

    def load():
        network = openvino.Core().read_model(model)
        network.reshape({network.input(0).any_name: list(data.shape)})
        compiled = openvino.Core().compile_model(network, "CPU", settings)
        request = compiled.create_infer_request()
        names = [o.any_name for o in compiled.outputs]
        return lambda: dict(zip(names, (value.copy() for value in request.infer([data]).values())))

    results = measure(load, iterations, {"version": openvino.__version__.split("-")[0]})
    if output:
        np.savez(output, **results)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
