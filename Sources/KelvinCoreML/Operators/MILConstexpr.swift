import KelvinGraph
import KelvinImport

/// An operation on constants that describes how a weight is encoded. Its results are weights, not nodes; a weight
/// becomes a graph value when a node first reads it.
struct MILConstexpr: OperationMapper {
  let name: String
  /// Returns the operation's outputs, in order.
  let map: @Sendable (MILContext) throws -> [Weight]

  init(_ name: String, _ map: @escaping @Sendable (MILContext) throws -> [Weight]) {
    self.name = name
    self.map = map
  }

  static let byName: [String: MILConstexpr] = table([
    affineDequantize, blockwiseShiftScale, cast, lutToDense, lutToSparse, sparseBlockwiseShiftScale, sparseToDense,
  ])

  /// `scale · (quantized_data - zero_point)`; scale and zero point are each a scalar, or a vector along `axis`.
  private static let affineDequantize = MILConstexpr("constexpr_affine_dequantize") { c in
    let data = try c.weight("quantized_data")
    let axis = try c.axis("axis", of: data.type.shape)
    let scale = try c.weight("scale")
    let zeroPoint = try c.weight("zero_point")
    let count = max(scale.type.count, zeroPoint.type.count)
    guard count == 1 || count == data.type.shape[axis] else {
      throw c.emitter.invalid("scale \(scale.type) and zero point \(zeroPoint.type) for \(data.type)")
    }
    var shape = Shape([Int](repeating: 1, count: data.type.shape.rank))
    shape[axis] = count
    func spread(_ weight: Weight) throws -> Weight {
      guard weight.type.count != count else { return weight.reshaped(to: shape) }
      guard weight.type.count == 1 else {
        throw c.emitter.invalid("scale \(scale.type) and zero point \(zeroPoint.type) differ")
      }
      let type = TensorType(weight.type.scalar, shape)
      return Weight(Tensor(type, rounding: [Double](repeating: weight.dense().doubles[0], count: count)))
    }
    return [try Weight(affine: data, scale: try spread(scale), offset: try spread(zeroPoint))]
  }

  /// `scale · (data - offset)`, with a scale and an offset for each block of the data.
  private static let blockwiseShiftScale = MILConstexpr("constexpr_blockwise_shift_scale") { c in
    [try c.scaled(try c.weight("data"))]
  }

  private static let cast = MILConstexpr("constexpr_cast") { c in
    let source = try c.weight("source_val")
    let name = try c.argument("output_dtype").flatMap { try c.scope.text($0) } ?? ""
    guard let scalar = ScalarType(milName: name) else { throw c.emitter.invalid("casts to unknown type '\(name)'") }
    return [try source.converted(to: scalar)]
  }

  /// Looks up indices. With `shape` they are packed in bytes (iOS 16), otherwise their type gives their number of bits
  /// (iOS 18).
  private static let lutToDense = MILConstexpr("constexpr_lut_to_dense") { c in
    let indices = try c.weight("indices")
    guard let shape = try c.shape() else { return [try c.palettized(indices)] }
    let table = try c.weight("lut")
    let length = table.type.count
    guard table.type.shape.rank == 1, (2...256).contains(length), length.nonzeroBitCount == 1 else {
      throw c.emitter.invalid("the table is \(table.type), expected 2 to 256 entries, a power of two")
    }
    let packed = try indices.packed(bits: length.trailingZeroBitCount, shape: shape, c.emitter)
    let tables = Shape([Int](repeating: 1, count: shape.rank) + [length, 1])
    return [try Weight(palettized: packed, table: table.reshaped(to: tables))]
  }

  /// Looks up the elements that the mask selects. If the table holds vectors, the mask grows with the elements.
  private static let lutToSparse = MILConstexpr("constexpr_lut_to_sparse") { c in
    let mask = try c.weight("indices_mask")
    let indices = try Weight(sparse: try c.weight("indices_nonzero_data"), mask: mask)
    let elements = try c.palettized(indices)
    var grown = mask
    if elements.type.shape != mask.type.shape {
      let size = elements.type.count / max(mask.type.count, 1)
      let ones = Shape([Int](repeating: 1, count: mask.type.shape.rank) + [2, size])
      let table = Tensor(TensorType(.uint8, ones), rounding: (0..<2 * size).map { $0 < size ? 0 : 1 })
      grown = try Weight(palettized: mask, table: Weight(table), vectorAxis: try c.vectorAxis())
    }
    return [grown, try elements.selected(by: grown)]
  }

  private static let sparseBlockwiseShiftScale = MILConstexpr("constexpr_sparse_blockwise_shift_scale") { c in
    let mask = try c.weight("data_mask")
    let data = try Weight(sparse: try c.weight("nonzero_data"), mask: mask)
    return [mask, try c.scaled(data).selected(by: mask)]
  }

  /// Scatters the elements that a mask selects. With `shape` the mask is packed in bytes (iOS 16), otherwise its
  /// elements have one bit (iOS 18).
  private static let sparseToDense = MILConstexpr("constexpr_sparse_to_dense") { c in
    let values = try c.weight("nonzero_data")
    let mask = try c.weight("mask")
    guard let shape = try c.shape() else { return [try Weight(sparse: values, mask: mask)] }
    return [try Weight(sparse: values, mask: try mask.packed(bits: 1, shape: shape, c.emitter))]
  }
}

extension MILContext {
  /// Returns an argument: an attribute in programs of iOS 16, an input in programs of iOS 18.
  fileprivate func argument(_ name: String) -> MILOperation.Binding? {
    operation.inputs[name]?.first ?? operation.attributes[name].map(MILOperation.Binding.value)
  }

  fileprivate func weight(_ name: String) throws -> Weight {
    guard let binding = argument(name) else { throw emitter.invalid("input '\(name)' is missing") }
    guard let weight = try scope.weight(binding, "\(operation.name)/\(name)") else {
      throw emitter.invalid("input '\(name)' depends on the model's inputs, expected a constant")
    }
    return weight
  }

  private func integers(of name: String) throws -> [Int]? {
    guard let binding = argument(name) else { return nil }
    return try scope.tensor(binding, name, atMost: Emitter.rankLimit)?.integers
  }

  fileprivate func axis(_ name: String, of shape: Shape) throws -> Int {
    guard let axis = try integers(of: name)?.first, let positive = shape.normalized(axis: axis) else {
      throw emitter.invalid("'\(name)' is missing or not an axis of \(shape)")
    }
    return positive
  }

  fileprivate func shape() throws -> Shape? { try integers(of: "shape").map(Shape.init) }

  fileprivate func vectorAxis() throws -> Int? { try integers(of: "vector_axis")?.first }

  fileprivate func palettized(_ indices: Weight) throws -> Weight {
    try Weight(palettized: indices, table: try weight("lut"), vectorAxis: try vectorAxis())
  }

  fileprivate func scaled(_ data: Weight) throws -> Weight {
    let offset = argument("offset") == nil ? nil : try weight("offset")
    return try Weight(affine: data, scale: try weight("scale"), offset: offset)
  }
}

extension Weight {
  /// Returns the bytes of plain uint8 elements, read as integers of fewer bits.
  fileprivate func packed(bits: Int, shape: Shape, _ emitter: Emitter) throws -> Weight {
    guard case .dense(let tensor) = encoding, tensor.type.scalar == .uint8 else {
      throw emitter.invalid("packed elements are \(type), expected bytes")
    }
    return Weight(try PackedIntegers(tensor.bytes, bits: bits, shape: shape))
  }
}
