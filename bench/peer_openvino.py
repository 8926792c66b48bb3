"""One round of OpenVINO's CPU plugin in a process of its own; prints one JSON line.

Usage: peer_openvino.py MODEL FOLDER --threads N --iterations N [--seconds N] [--kernels] [--outputs FILE.npz]
"""

import collections
import json

import numpy as np
import openvino

import timing


def kernels(compiled):
    """{node kind and the kernel that runs it: how many}."""
    nodes = [node.get_rt_info() for node in compiled.get_runtime_model().get_ops()]
    names = (f"{node['layerType'].astype(str)} {node['primitiveType'].astype(str)}" for node in nodes)
    return {name: count for name, count in sorted(collections.Counter(names).items()) if " unknown" not in name}


def main():
    parser = timing.parser(__doc__)
    parser.add_argument("--kernels", action="store_true", help="print instead which kernel runs what")
    arguments = parser.parse_args()
    given = timing.inputs(arguments.folder)
    # Processors with bfloat16 would otherwise compute in it.
    settings = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(arguments.threads),
                "INFERENCE_PRECISION_HINT": "f32"}

    def compiled():
        network = openvino.Core().read_model(arguments.model)
        network.reshape({name: list(values.shape) for name, values in given.items()})
        return openvino.Core().compile_model(network, "CPU", settings)

    def load():
        ready = compiled()
        request = ready.create_infer_request()
        names = [output.get_names() for output in ready.outputs]

        def infer():
            values = request.infer(given).values()
            return {name: value.copy() for each, value in zip(names, values) for name in each}
        return infer

    if arguments.kernels:
        ready = compiled()
        ready.create_infer_request().infer(given)
        print(json.dumps(kernels(ready)))
        return
    results = timing.measure(load, arguments, {"version": openvino.__version__.split("-")[0]})
    if arguments.outputs:
        np.savez(arguments.outputs, **results)


if __name__ == "__main__":
    main()
