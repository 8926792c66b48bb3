"""One round of ONNX Runtime in a process of its own; prints one JSON line.

Usage: peer_onnxruntime.py MODEL INPUT.npy THREADS ITERATIONS [OUTPUT.npz]
"""

import sys

import numpy as np
import onnxruntime

from timing import measure


def main(model, tensor, threads, iterations, output=None):
    data = np.load(tensor)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1

    def load():
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: data}
        names = [o.name for o in session.get_outputs()]
        return lambda: dict(zip(names, session.run(names, feed)))

    results = measure(load, iterations, {"version": onnxruntime.__version__})
    if output:
        np.savez(output, **results)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
