"""Writes `mobilenetv2_photos.kv`: ONNX Runtime's logits of the quantized MobileNet for the photos of a folder of shared files.

    python photos.py ../../../../shared
"""

import pathlib
import sys

import numpy as np
import onnxruntime

import kv

HERE = pathlib.Path(__file__).parent


def main(shared):
    session = onnxruntime.InferenceSession(str(shared / "models/MobileNetV2_int8_qdq.onnx"),
                                           providers=["CPUExecutionProvider"])
    logits = []
    for path in sorted((shared / "expected").glob("mobilenetv2_*_input.npy")):
        photo = path.name.removeprefix("mobilenetv2_").removesuffix("_input.npy")
        image = np.load(path).astype(np.float32).reshape(1, 3, 224, 224)
        logits.append((photo, session.run(["logits"], {"image": image})[0]))
    (HERE / "mobilenetv2_photos.kv").write_bytes(kv.encode("mobilenetv2_photos", [], logits))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
