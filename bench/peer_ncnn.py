"""One round of ncnn's Vulkan path in a process of its own; prints one JSON line.

Usage: peer_ncnn.py PREFIX INPUT.npy default|full ITERATIONS [OUTPUT.npz]

PREFIX.param and PREFIX.bin come from ncnn_model.py. `default` leaves ncnn's options as they are (float16 storage and
arithmetic where the driver has them); `full` switches float16 off. Timed: upload of the input, the network, download of
"probs", in one submission.
"""

import sys

import ncnn
import numpy as np

from timing import measure


def main(prefix, tensor, precision, iterations, output=None):
    if ncnn.get_gpu_count() == 0:
        raise SystemExit("ncnn finds no Vulkan device: install a driver, for example mesa-vulkan-drivers")
    data = np.load(tensor)[0]
    net = ncnn.Net()
    net.opt.use_vulkan_compute = True
    net.set_vulkan_device(0)
    if precision == "full":
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False

    def extract(name):
        extractor = net.create_extractor()
        extractor.input("image", ncnn.Mat(data))
        status, result = extractor.extract(name)
        if status != 0:
            raise SystemExit(f"ncnn could not compute {name} of {prefix}: status {status}")
        return np.array(result)[None]

    def load():
        if net.load_param(f"{prefix}.param") or net.load_model(f"{prefix}.bin"):
            raise SystemExit(f"ncnn cannot read {prefix}.param and .bin")
        return lambda: {"probs": extract("probs")}

    results = measure(load, iterations, {"version": ncnn.__version__, "driver": ncnn.get_gpu_info(0).device_name()})
    if output:
        np.savez(output, logits=extract("logits"), **results)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
