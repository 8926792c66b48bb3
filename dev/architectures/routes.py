"""The routes from a PyTorch model to Kelvin, and the reference of each.

A route gives what Kelvin computed and what it should have, lists of arrays; NotExported where the exporter itself fails.
"""
import copy
import os
import warnings

import numpy as np
import torch

#: The largest difference that counts as equal, of the reference's range.
TOLERANCE = {
    "mlprogram32": 1e-4, "mlprogram16": 3e-2, "onnx": 1e-4, "onnx-dynamo": 1e-4,
    # Both sides have the same weights, compressed and not.
    "classical": 1e-4, "int8": 1e-4, "palettized": 1e-4, "pruned": 1e-4,
}


class NotExported(Exception):
    """The exporter cannot write the model."""


def arrays(values):
    values = values if isinstance(values, (tuple, list)) else (values,)
    return [np.asarray(value.detach().numpy() if torch.is_tensor(value) else value) for value in values]


def reference(model, inputs):
    with torch.no_grad():
        return arrays(model(*copy.deepcopy(inputs)))


def converted(model, inputs, precision):
    import coremltools as ct
    try:
        with torch.no_grad():
            traced = torch.jit.trace(model, inputs, check_trace=False)
        expected = reference(model, inputs)
        made = ct.convert(
            traced, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18, skip_model_load=True,
            compute_precision=precision, compute_units=ct.ComputeUnit.CPU_ONLY, inputs=[
                ct.TensorType(f"input_{index}", value.shape, dtype=np.int32 if value.dtype == torch.int64 else np.float32)
                for index, value in enumerate(inputs)],
            outputs=[
                ct.TensorType(f"output_{index}", dtype=np.float32 if value.dtype == np.float32 else np.int32)
                for index, value in enumerate(expected)])
    # Exporters may raise any exception.
    except Exception as error:
        raise NotExported(f"coremltools: {type(error).__name__}: {error}") from error
    return made, expected


def predicted(made, inputs):
    """Returns Kelvin's result for a converted model."""
    import kelvin
    folder = os.path.join(os.environ["KELVIN_SCRATCH"], f"{os.getpid()}.mlpackage")
    made.save(folder)
    model = kelvin.Model(folder, units="cpu", precision="full", no_cache=True)
    given = {
        f"input_{index}": value.numpy().astype(np.int32) if value.dtype == torch.int64 else value.numpy()
        for index, value in enumerate(inputs)}
    found = model.predict(given)
    return [np.asarray(found[f"output_{index}"]) for index in range(len(found))]


def ml_program(precision):
    def route(model, inputs):
        import coremltools as ct
        made, expected = converted(model, inputs, getattr(ct.precision, precision))
        found = predicted(made, inputs)
        if difference(found, expected) == float("inf") and any(
                np.isinf(operation.outputs[0].val).any() for operation in made._mil_program.functions["main"].operations
                if operation.op_type == "const" and isinstance(operation.outputs[0].val, (np.floating, np.ndarray))
                and operation.outputs[0].val.dtype == np.float16):
            raise NotExported("coremltools: a constant is infinite in float16, and is multiplied by 0")
        return found, expected
    return route


def compressed(name):
    def route(model, inputs):
        import coremltools as ct
        from coremltools.optimize import coreml as optimize
        made, _ = converted(model, inputs, ct.precision.FLOAT32)
        settings = {
            "int8": lambda: (optimize.linear_quantize_weights, optimize.OpLinearQuantizerConfig(weight_threshold=64)),
            "palettized": lambda: (optimize.palettize_weights, optimize.OpPalettizerConfig(
                mode="uniform", nbits=4, weight_threshold=64)),
            "pruned": lambda: (optimize.prune_weights, optimize.OpMagnitudePrunerConfig(
                target_sparsity=0.6, weight_threshold=64)),
        }
        function, setting = settings[name]()
        try:
            made = function(made, optimize.OptimizationConfig(global_config=setting))
            plain = optimize.decompress_weights(made)
        except Exception as error:
            raise NotExported(f"coremltools: {type(error).__name__}: {error}") from error
        return predicted(made, inputs), predicted(plain, inputs)
    return route


def exported(model, inputs, dynamo):
    path = os.path.join(os.environ["KELVIN_SCRATCH"], f"{os.getpid()}.onnx")
    try:
        with torch.no_grad():
            if dynamo:
                # The model is not optimized, so that the exporter's own output is tested; names are the exporter's.
                torch.onnx.export(model, inputs, dynamo=True, verbose=False).save(path)
            else:
                torch.onnx.export(model, inputs, path, dynamo=False, opset_version=18)
    except Exception as error:
        raise NotExported(f"torch.onnx: {type(error).__name__}: {error}") from error
    return path


def fed(names, inputs):
    """Inputs by name; exporters leave out those that a model does not use."""
    return {name: value.numpy() for name, value in zip(names, inputs)}


def onnx(dynamo):
    def route(model, inputs):
        from kelvin.onnx import InferenceSession, SessionOptions
        expected = reference(model, inputs)
        path = exported(model, inputs, dynamo)
        options = SessionOptions()
        options.kelvin = {"precision": "full", "no_cache": True}
        session = InferenceSession(path, options, ["CPUExecutionProvider"])
        found = session.run(None, fed([item.name for item in session.get_inputs()], inputs))
        if difference(found, expected) > TOLERANCE["onnx"]:
            witness(path, fed([item.name for item in session.get_inputs()], inputs), expected)
        return found, expected
    return route


def witness(model, inputs, expected):
    """Raises NotExported if ONNX Runtime, if installed, also differs from the model."""
    try:
        import onnxruntime
    except ImportError:
        return
    try:
        found = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, inputs)[:len(expected)]
        found = [
            np.reshape(item, np.shape(right)) if np.size(item) == np.size(right) else item
            for item, right in zip(found, expected)]
    # An operator that ONNX Runtime lacks is no evidence against the file.
    except Exception:
        return
    if difference(found, expected) > TOLERANCE["onnx"]:
        raise NotExported(f"ONNX Runtime is {difference(found, expected):.1e} off as well")


def difference(found, expected):
    """Returns the largest difference of any output, relative to its range or to a hundredth of its largest value,
    whichever is more; infinite if shapes differ or an element is NaN."""
    worst = 0.0
    if len(found) != len(expected):
        return float("inf")
    for got, wanted in zip(found, expected):
        got, wanted = np.asarray(got), np.asarray(wanted)
        if got.shape != wanted.shape:
            return float("inf")
        if got.size == 0:
            continue
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        finite = wanted[np.isfinite(wanted)]
        span = max(np.ptp(finite), np.abs(finite).max() * 1e-2, 1e-12) if finite.size else 1.0
        with np.errstate(invalid="ignore"):
            apart = np.where(same, 0, np.abs(got - wanted) / span)
        worst = max(worst, float("inf") if np.isnan(apart).any() else float(apart.max()))
    return worst


ROUTES = {
    "mlprogram32": ml_program("FLOAT32"), "mlprogram16": ml_program("FLOAT16"),
    "int8": compressed("int8"), "palettized": compressed("palettized"), "pruned": compressed("pruned"),
    "onnx": onnx(False), "onnx-dynamo": onnx(True),
}


def prepared(make):
    """Returns a model with seeded weights, and its inputs; statistics of normalizations differ from their initial
    values."""
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    np.random.seed(0)
    model, inputs = make()
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.running_mean is not None:
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return model.eval(), inputs
