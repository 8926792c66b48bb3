import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Constants, and values that follow from shapes and numbers.
  static let constants: [ONNXMapper] = [constant, constantOfShape, shape, size, range, eyeLike, trilu, einsum]

  private static let constant = ONNXMapper("Constant") { c in
    let attributes = c.node.attributes
    if let value = attributes["value"]?.tensor ?? attributes["sparse_value"]?.sparseTensor {
      return [c.emitter.constant(try value.weight(c.files))]
    }
    let tensor: Tensor
    if let value = attributes["value_float"]?.float {
      tensor = Tensor([value], [])
    } else if let value = attributes["value_int"]?.integer {
      tensor = Tensor([Int64(value)], [])
    } else if let values = attributes["value_floats"]?.floats {
      tensor = Tensor(values, [values.count])
    } else if let values = attributes["value_ints"]?.integers {
      tensor = Tensor(values.map(Int64.init), [values.count])
    } else {
      throw c.unsupported("its value is neither a tensor nor a number (\(attributes.keys.sorted()))")
    }
    return [c.emitter.constant(Weight(tensor))]
  }

  private static let constantOfShape = ONNXMapper("ConstantOfShape", valueDependent: [0]) { c in
    guard let sizes = try c.constantIntegers(0, "shape"), sizes.count <= Emitter.rankLimit else {
      throw c.emitter.invalid("has no shape")
    }
    let value = try c.node.attributes["value"]?.tensor?.read(c.files) ?? Tensor([Float(0)], [1])
    guard value.count == 1 else { throw c.emitter.invalid("its value has \(value.count) elements, expected 1") }
    let scalar = c.emitter.constant(Weight(value.reshaped(to: [])), step: "value")
    return [try c.emitter.add(Expand(Shape(sizes)), scalar)]
  }

  /// Returns the sizes from `start` to before `end`; all sizes before operator set 15.
  private static let shape = ONNXMapper("Shape", readsOnlyShapes: true) { c in
    let sizes = c.emitter.shape(try c.input(0)).dimensions
    let range = SliceRange(
      start: c.integer("start", default: 0), end: c.node.attributes["end"]?.integer, step: 1, size: sizes.count)
    guard let range else { return [] }
    return [c.emitter.constant(integers: Array(sizes[range.start..<(range.start + range.count)]))]
  }

  private static let size = ONNXMapper("Size", readsOnlyShapes: true) { c in
    [c.emitter.constant(integers: [c.emitter.shape(try c.input(0)).count], shape: [])]
  }

  private static let range = ONNXMapper("Range", valueDependent: [0, 1, 2]) { c in
    guard let start = try c.constantScalar(0, "start"), let limit = try c.constantScalar(1, "limit"),
      let delta = try c.constantScalar(2, "delta")
    else { throw c.emitter.invalid("has no start, limit and delta") }
    return [try c.emitter.range(from: start, to: limit, by: delta)]
  }

  /// Ones on the k-th diagonal.
  private static let eyeLike = ONNXMapper("EyeLike", readsOnlyShapes: true) { c in
    let x = try c.input(0)
    guard c.emitter.shape(x).rank == 2 else { throw c.emitter.invalid("expected a matrix, got \(c.emitter.type(x))") }
    let number = c.node.attributes["dtype"]?.integer
    guard let scalar = number.map({ ScalarType(onnx: $0) }) ?? c.emitter.scalar(x) else {
      throw c.unsupported("ONNX's type number \(number ?? 0)")
    }
    let offset = c.integer("k", default: 0)
    let (rows, columns) = (c.emitter.shape(x)[0], c.emitter.shape(x)[1])
    let (row, column) = (max(0, -max(offset, -rows)), max(0, min(offset, columns)))
    let count = max(0, min(rows - row, columns - column))
    let zero = c.emitter.constant(0, scalar, step: "zero")
    guard count > 0 else { return [try c.emitter.add(Expand(c.emitter.shape(x)), zero)] }
    let ones = try c.emitter.add(Expand([count]), c.emitter.constant(1, scalar, step: "one"), step: "ones")
    let zeros = try c.emitter.add(Expand(c.emitter.shape(x)), zero, step: "zeros")
    let diagonal = try c.emitter.table(.int64, [count, 2], step: "diagonal") {
      (0..<count).flatMap { [Double(row + $0), Double(column + $0)] }
    }
    return [try c.emitter.add(ScatterND(reduction: .replace), zeros, diagonal, ones)]
  }

  /// Keeps the part of each matrix from its k-th diagonal on, or up to it.
  private static let trilu = ONNXMapper("Trilu", valueDependent: [1]) { c in
    let x = try c.input(0)
    let offset = try c.constantIntegers(1, "k")?.first ?? 0
    let isUpper = c.flag("upper", default: true)
    return [try c.emitter.band(x, lower: isUpper ? offset : nil, upper: isUpper ? nil : offset)]
  }

  private static let einsum = ONNXMapper("Einsum") { c in
    let operands = try c.allInputs()
    return [try c.emitter.einsum(c.text("equation", default: ""), operands)]
  }
}
