"""One round of ncnn's Vulkan path in a process of its own; prints one JSON line.

Usage: peer_ncnn.py PREFIX FOLDER --iterations N [--seconds N] [--device NAME] [--full] [--outputs FILE.npz]

PREFIX.param and PREFIX.bin come from ncnn_model.py. ncnn's options are as they are (float16 storage and arithmetic where the
driver has them); `--full` switches float16 off. Timed: upload of the input, the network, download of "probs", in one submission.
`leftToCPU` are the kinds of layers that ncnn has no Vulkan form of.
"""

import ncnn
import numpy as np

import timing


def found(name):
    """The index of the device."""
    names = [ncnn.get_gpu_info(index).device_name() for index in range(ncnn.get_gpu_count())]
    if not names:
        raise SystemExit("ncnn finds no Vulkan device: install a driver, for example mesa-vulkan-drivers")
    if name is not None and name not in names:
        raise SystemExit(f"ncnn finds no Vulkan device '{name}'; it finds {', '.join(names)}")
    return names.index(name) if name is not None else 0


def main():
    parser = timing.parser(__doc__)
    parser.add_argument("--full", action="store_true", help="float32 throughout")
    parser.add_argument("--device", help="the device's name, as Vulkan has it; the first one where nothing is said")
    arguments = parser.parse_args()
    device = found(arguments.device)
    about = {"version": ncnn.__version__, "driver": ncnn.get_gpu_info(device).device_name()}
    data = timing.inputs(arguments.folder)["image"][0]
    net = ncnn.Net()
    net.opt.use_vulkan_compute = True
    net.set_vulkan_device(device)
    if arguments.full:
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False

    def extract(name):
        extractor = net.create_extractor()
        extractor.input("image", ncnn.Mat(data))
        status, result = extractor.extract(name)
        if status != 0:
            raise SystemExit(f"ncnn could not compute {name} of {arguments.model}: status {status}")
        return np.array(result)[None]

    def load():
        if net.load_param(f"{arguments.model}.param") or net.load_model(f"{arguments.model}.bin"):
            raise SystemExit(f"ncnn cannot read {arguments.model}.param and .bin")
        about["leftToCPU"] = sorted({layer.type for layer in net.layers() if not layer.support_vulkan})
        return lambda: {"probs": extract("probs")}

    results = timing.measure(load, arguments, about)
    if arguments.outputs:
        np.savez(arguments.outputs, logits=extract("logits"), **results)


if __name__ == "__main__":
    main()
