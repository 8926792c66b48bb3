"""One round of ONNX Runtime in a process of its own; prints one JSON line.

Usage: peer_onnxruntime.py MODEL FOLDER --threads N --iterations N [--seconds N] [--no-spinning] [--outputs FILE.npz]
"""

import numpy as np
import onnxruntime

import timing


def main():
    parser = timing.parser(__doc__)
    parser.add_argument("--no-spinning", action="store_true", help="threads that wait sleep at once")
    arguments = parser.parse_args()
    feed = timing.inputs(arguments.folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    if arguments.no_spinning:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")

    def load():
        session = onnxruntime.InferenceSession(arguments.model, options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        return lambda: dict(zip(names, session.run(names, feed)))

    results = timing.measure(load, arguments, {"version": onnxruntime.__version__})
    if arguments.outputs:
        np.savez(arguments.outputs, **results)


if __name__ == "__main__":
    main()
