import KelvinGraph
import KelvinImport

/// The indices of the elements of a `SparseTensorProto`; the other elements are 0.
struct ONNXSparseIndices {
  /// The tensor of indices: `[count]` in row-major order, or `[count, rank]`.
  let message: WireMessage
  /// The sizes of the dense tensor.
  let dimensions: [Int]
}

extension ONNXTensor {
  /// The greatest size in bytes of a sparse tensor in dense form.
  private static let spreadLimit = 1 << 31

  /// Reads a `SparseTensorProto` message, whose name is that of its values.
  init(sparse message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.SparseTensorProto
    var values: WireMessage?
    var indices: WireMessage?
    var dimensions: [Int] = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.values: values = try field.message()
      case Fields.indices: indices = try field.message()
      case Fields.dims: try field.append(to: &dimensions, limit: Emitter.rankLimit)
      default: break
      }
    }
    guard let values, let indices else {
      throw FormatError(
        .malformed, file: message.file, place: "a sparse tensor", offset: message.offset, "it lacks values or indices")
    }
    try self.init(values)
    places = ONNXSparseIndices(message: indices, dimensions: dimensions)
  }

  /// Returns the external files that the tensor reads.
  func locations() throws(FormatError) -> [String] {
    var locations = [location]
    if let places { locations.append(try ONNXTensor(places.message).location) }
    return locations.compactMap { $0 }
  }

  /// Returns the dense tensor.
  func spread(_ places: ONNXSparseIndices, _ files: ModelFiles) throws(FormatError) -> Tensor {
    let shape = Shape(places.dimensions)
    let values = try stored(files)
    let indices = try ONNXTensor(places.message).read(files)
    let type = TensorType(values.type.scalar, shape)
    guard shape.isAddressable, type.byteCount <= Self.spreadLimit else {
      throw malformed("its shape \(shape) is not a valid shape, or takes more than \(Self.spreadLimit) bytes")
    }
    let (count, rank) = (values.count, shape.rank)
    let isFlat = indices.type.shape.dimensions == [count]
    guard indices.type.scalar == .int64, isFlat || indices.type.shape.dimensions == [count, rank] else {
      throw malformed("its indices are \(indices.type), expected int64[\(count)] or int64[\(count), \(rank)]")
    }
    var positions: [Int] = []
    positions.reserveCapacity(count)
    let listed = indices.integers
    for element in 0..<count {
      var position = isFlat ? listed[element] : 0
      if !isFlat {
        for (axis, size) in shape.dimensions.enumerated() {
          let index = listed[element * rank + axis]
          guard (0..<size).contains(index) else {
            throw malformed("index \(index) is not in axis \(axis) of \(shape)")
          }
          position = position * size + index
        }
      }
      guard (0..<shape.count).contains(position) else { throw malformed("index \(position) is not in \(shape)") }
      positions.append(position)
    }
    let size = type.scalar.byteCount
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        values.bytes.withUnsafeBytes { source in
          for (element, position) in positions.enumerated() {
            target[(position * size)..<((position + 1) * size)].copyBytes(
              from: source[(element * size)..<((element + 1) * size)])
          }
        }
      })
  }
}
