import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let constant = ONNXMapper("Constant") { c in
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

  static let constantOfShape = ONNXMapper("ConstantOfShape", valueDependent: [0]) { c in
    guard let sizes = try c.constantIntegers(0, "shape"), sizes.count <= Emitter.rankLimit else {
      throw c.emitter.invalid("has no shape")
    }
    let value = try c.node.attributes["value"]?.tensor?.read(c.files) ?? Tensor([Float(0)], [1])
    guard value.count == 1 else { throw c.emitter.invalid("its value has \(value.count) elements, expected 1") }
    let scalar = c.emitter.constant(Weight(value.reshaped(to: [])), step: "value")
    return [try c.emitter.add(Expand(Shape(sizes)), scalar)]
  }

  /// Returns the sizes from `start` to before `end`; all sizes before operator set 15.
  static let shape = ONNXMapper("Shape", readsOnlyShapes: true) { c in
    let sizes = c.emitter.shape(try c.input(0)).dimensions
    let range = SliceRange(
      start: c.integer("start", default: 0), end: c.node.attributes["end"]?.integer, step: 1, size: sizes.count)
    guard let range else { return [] }
    return [c.emitter.constant(integers: Array(sizes[range.start..<(range.start + range.count)]))]
  }

  static let size = ONNXMapper("Size", readsOnlyShapes: true) { c in
    [c.emitter.constant(integers: [c.emitter.shape(try c.input(0)).count], shape: [])]
  }
}
