"""An ML Program as text, in the format that Core ML writes into the folder of a compiled model (`model.mil`)."""
import json
from typing import Any, Iterator, List, Sequence

import numpy as np

#: The types of values that programs store as bytes. Types of fewer than eight bits are packed from the lowest bits.
_PACKED = {
    "FLOAT16": "<f2", "INT8": "i1", "UINT8": "u1", "INT16": "<i2", "UINT16": "<u2", "UINT32": "<u4", "UINT64": "<u8"}
#: The first opset version whose programs write scalars without the shape `[]`.
_PLAIN_SCALARS_SINCE = 18


def text(program: Any) -> str:
    """Returns the text of a `MIL_pb2.Program`."""
    opsets = {name: _release(function.opset) for name, function in program.functions.items()}
    writer = _Writer(max(opsets.values(), default=0) >= _PLAIN_SCALARS_SINCE)
    lines = [f"program({'1.3' if writer.plain else '1.0'})", "{"]
    for name, function in sorted(program.functions.items()):
        lines += writer.function(name, opsets[name], function)
    return "\n".join(lines + ["}", ""])


def _release(opset: str) -> int:
    """Returns the iOS version that introduced an opset: CoreML5 with 15."""
    digits = opset[len("CoreML"):]
    return int(digits) + 10 if digits.isdigit() else 0


class _Writer:
    def __init__(self, plain: bool) -> None:
        self.plain = plain

    def function(self, name: str, release: int, function: Any) -> Iterator[str]:
        inputs = ", ".join(f"{self.type(item.type)} {item.name}" for item in function.inputs)
        block = function.block_specializations[function.opset]
        yield f"    func {name}<ios{release}>({inputs}) {{"
        yield from self.block(block, "            ")
        yield f"        }} -> ({', '.join(block.outputs)});"

    def block(self, block: Any, indent: str) -> Iterator[str]:
        for operation in block.operations:
            yield f"{indent}{self.operation(operation)}{'' if operation.blocks else ';'}"
            for inner in operation.blocks:
                inputs = ", ".join(f"{self.type(item.type)} {item.name}" for item in inner.inputs)
                yield f"{indent}({inputs}) {{"
                yield from self.block(inner, indent + "    ")
                yield f"{indent}}} -> ({', '.join(inner.outputs)});"

    def operation(self, operation: Any) -> str:
        outputs = ", ".join(f"{self.type(item.type)} {item.name}" for item in operation.outputs)
        inputs = ", ".join(f"{name} = {self.argument(value)}" for name, value in sorted(operation.inputs.items()))
        attributes = ", ".join(f"{name} = {self.value(value)}" for name, value in sorted(operation.attributes.items()))
        assignment = f"{outputs} = " if outputs else ""
        return f"{assignment}{operation.type}({inputs})[{attributes}]"

    def argument(self, argument: Any) -> str:
        items = [
            binding.name if binding.WhichOneof("binding") == "name" else self.value(binding.value)
            for binding in argument.arguments]
        return items[0] if len(items) == 1 else f"({', '.join(items)})"

    def type(self, kind: Any) -> str:
        which = kind.WhichOneof("type")
        if which == "tensorType":
            return self.tensor_type(kind.tensorType)
        if which == "stateType":
            return f"state<{self.type(kind.stateType.wrappedType)}>"
        if which == "listType":
            return f"list<{self.type(kind.listType.type)}, {_size(kind.listType.length)}>"
        if which == "tupleType":
            return f"tuple<{', '.join(map(self.type, kind.tupleType.types))}>"
        return f"dict<{self.type(kind.dictionaryType.keyType)}, {self.type(kind.dictionaryType.valueType)}>"

    def tensor_type(self, kind: Any) -> str:
        scalar = _scalar(kind.dataType)
        if not kind.dimensions and self.plain:
            return scalar
        return f"tensor<{scalar}, [{', '.join(map(_size, kind.dimensions))}]>"

    def value(self, value: Any) -> str:
        if value.WhichOneof("value") == "blobFileValue":
            file = value.blobFileValue
            path = f"{self.scalar_type('string')}({json.dumps(file.fileName)})"
            return f"{self.type(value.type)}(BLOBFILE(path = {path}, offset = {self.scalar_type('uint64')}({file.offset})))"
        which = value.immediateValue.WhichOneof("value")
        if which == "tensor":
            return f"{self.type(value.type)}({_elements(value)})"
        if which == "dictionary":
            pairs = ", ".join(
                f"{{{self.value(pair.key)}, {self.value(pair.value)}}}" for pair in value.immediateValue.dictionary.values)
            return f"{self.type(value.type)}({{{pairs}}})"
        items = value.immediateValue.list.values if which == "list" else value.immediateValue.tuple.values
        return f"{self.type(value.type)}(({', '.join(map(self.value, items))}))"

    def scalar_type(self, name: str) -> str:
        return name if self.plain else f"tensor<{name}, []>"


def _scalar(data_type: int) -> str:
    from coremltools.proto import MIL_pb2
    name: str = MIL_pb2.DataType.Name(data_type)
    return name.lower().replace("float", "fp")


def _size(dimension: Any) -> str:
    return str(dimension.constant.size) if dimension.WhichOneof("dimension") == "constant" else "?"


def _elements(value: Any) -> str:
    """Formats the elements of a tensor, with nested brackets for its axes."""
    tensor, kind = value.immediateValue.tensor, value.type.tensorType
    which = tensor.WhichOneof("value")
    if which is None:
        elements: Sequence[Any] = []
    elif which == "bytes":
        elements = _unpacked(tensor.bytes.values, kind)
    else:
        elements = getattr(tensor, which).values
    sizes = [dimension.constant.size for dimension in kind.dimensions]
    return _nested([_literal(element) for element in elements], sizes)


def _unpacked(data: bytes, kind: Any) -> List[Any]:
    from coremltools.proto import MIL_pb2
    name = MIL_pb2.DataType.Name(kind.dataType)
    if name in _PACKED:
        return list(np.frombuffer(data, _PACKED[name]).tolist())
    bits = int("".join(filter(str.isdigit, name)) or 8)
    count = int(np.prod([dimension.constant.size for dimension in kind.dimensions], dtype=np.int64))
    digits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: count * bits].reshape(-1, bits)
    numbers = digits.astype(np.int64) @ (1 << np.arange(bits))
    if not name.startswith("U"):
        numbers = np.where(numbers >= 1 << (bits - 1), numbers - (1 << bits), numbers)
    return list(numbers.tolist())


def _literal(element: Any) -> str:
    if isinstance(element, bool):
        return "true" if element else "false"
    if isinstance(element, str):
        return json.dumps(element, ensure_ascii=False)
    if isinstance(element, int):
        return str(element)
    mantissa, point, exponent = float(element).hex().partition("p")
    return mantissa.rstrip("0").rstrip(".") + point + exponent if point else mantissa


def _nested(texts: Sequence[str], sizes: Sequence[int]) -> str:
    if not sizes:
        return texts[0] if texts else ""
    if len(sizes) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // sizes[0] if sizes[0] else 0
    return f"[{', '.join(_nested(texts[row * step:(row + 1) * step], sizes[1:]) for row in range(sizes[0]))}]"
