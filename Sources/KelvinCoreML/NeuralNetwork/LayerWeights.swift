import KelvinGraph
import KelvinImport

/// A layer's `WeightParams`: numbers in the file, in one of several encodings.
struct LayerWeights {
  private typealias Fields = NetworkSchema.WeightParams
  private let parameters: LayerParameters

  init(_ parameters: LayerParameters) { self.parameters = parameters }

  /// Returns the weights as a float32 tensor. The file is read when the elements are first needed.
  ///
  /// - Parameters:
  ///   - channelAxis: The axis of the channels of a linear quantization.
  ///   - groups: The number of groups that the first axis is divided into; each group has its own channels along the
  ///     other axis.
  /// - Throws: An error if the number of elements, or the quantization parameters, do not match the shape.
  func weight(_ shape: Shape, channelAxis: Int = 0, groups: Int = 1) throws(FormatError) -> Weight {
    guard shape.isAddressable else { throw malformed("its shape \(shape) is too large") }
    let type = TensorType(.float32, shape)
    let channels = Channels(axis: channelAxis, groups: groups)
    if let raw = try parameters.bytes(Fields.rawValue), raw.count > 0 { return try quantized(raw, type, channels) }
    if let half = try parameters.bytes(Fields.float16Value), half.count > 0 {
      try check(half.count, 2 * shape.count, type)
      let stored = Weight(Tensor(TensorType(.float16, shape), half))
      return try encoded { () throws(GraphError) -> Weight in try stored.converted(to: .float32) }
    }
    if let bytes = try parameters.bytes(Fields.int8RawValue), bytes.count > 0 {
      try check(bytes.count, shape.count, type)
      return try affine(Weight(Tensor(TensorType(.int8, shape), bytes)), type, channels, try quantization())
    }
    return try floats(type)
  }

  /// The position of a linear quantization's channels.
  private struct Channels {
    var axis: Int
    var groups: Int
  }

  /// Returns the numbers as the file has them: float32, float16, or bytes.
  func stored() throws(FormatError) -> Bytes {
    for field in [Fields.rawValue, Fields.float16Value, Fields.int8RawValue] {
      if let bytes = try parameters.bytes(field), bytes.count > 0 { return bytes }
    }
    return Bytes(try parameters.numbers(Fields.floatValue))
  }

  /// Returns the number of elements in the file.
  func count() throws(FormatError) -> Int {
    if let half = try parameters.bytes(Fields.float16Value), half.count > 0 { return half.count / 2 }
    if let raw = try parameters.bytes(Fields.rawValue), raw.count > 0 {
      return raw.count * 8 / (try bits(quantization()))
    }
    var count = 0
    try parameters.each(Fields.floatValue) { (field) throws(FormatError) in
      if case .bytes(let bytes) = field.value { count += bytes.count / 4 } else { count += 1 }
    }
    return count
  }

  /// Returns float32 numbers. A packed list is a view of the file.
  private func floats(_ type: TensorType) throws(FormatError) -> Weight {
    var lists: [WireField] = []
    try parameters.each(Fields.floatValue) { (field) throws(FormatError) in
      if lists.count < 2 { lists.append(field) }
    }
    if lists.count == 1, case .bytes(let bytes) = lists[0].value {
      try check(bytes.count, type.byteCount, type)
      return Weight(Tensor(type, bytes))
    }
    let values = try parameters.numbers(Fields.floatValue)
    try check(values.count, type.count, type, unit: "elements")
    return Weight(Tensor(values, type.shape))
  }

  private func quantized(_ raw: Bytes, _ type: TensorType, _ channels: Channels) throws(FormatError) -> Weight {
    typealias Quantization = NetworkSchema.QuantizationParams
    let quantization = try quantization()
    let bits = try bits(quantization)
    try check(raw.count, (type.count * bits + 7) / 8, type)
    let codes = try encoded { () throws(GraphError) -> Weight in
      Weight(try PackedIntegers(raw, bits: bits, isSigned: false, order: .mostSignificantFirst, shape: type.shape))
    }
    guard let table = try quantization.message(Quantization.lookupTableQuantization) else {
      return try affine(codes, type, channels, quantization)
    }
    let values = try table.numbers(NetworkSchema.LookUpTableQuantizationParams.floatValue, limit: 256)
    guard values.count == 1 << bits else {
      throw malformed("its lookup table has \(values.count) entries, expected \(1 << bits) for \(bits) bits")
    }
    let shape = Shape([Int](repeating: 1, count: type.shape.rank) + [values.count, 1])
    return try encoded { () throws(GraphError) -> Weight in
      try Weight(palettized: codes, table: Weight(Tensor(values, shape)))
    }
  }

  /// Returns `scale · q + bias`. Scale and bias are each one number, one per channel of a group, or one per channel of
  /// all groups.
  private func affine(
    _ codes: Weight, _ type: TensorType, _ place: Channels, _ quantization: LayerParameters
  ) throws(FormatError) -> Weight {
    typealias Linear = NetworkSchema.LinearQuantizationParams
    guard let linear = try quantization.message(NetworkSchema.QuantizationParams.linearQuantization) else {
      throw malformed("its quantization is neither linear nor by a lookup table")
    }
    let own = place.axis < type.shape.rank ? type.shape[place.axis] : 1
    let channels = own * place.groups
    var scale = try linear.numbers(Linear.scale)
    var bias = try linear.numbers(Linear.bias)
    if bias.isEmpty { bias = [0] }
    let count = max(scale.count, bias.count)
    guard [1, own, channels].contains(count), [1, count].contains(scale.count), [1, count].contains(bias.count) else {
      throw malformed("it has \(scale.count) scales and \(bias.count) biases for \(channels) channels")
    }
    if scale.count < count { scale = [Float](repeating: scale[0], count: count) }
    if bias.count < count { bias = [Float](repeating: bias[0], count: count) }
    var sizes = [Int](repeating: 1, count: type.shape.rank)
    if count > 1, place.axis < sizes.count {
      sizes[place.axis] = own
      sizes[0] *= count / own
    }
    let shape = Shape(sizes)
    return try encoded { [scale, bias] () throws(GraphError) -> Weight in
      try Weight(affine: codes, scale: Weight(Tensor(scale, shape)), bias: Weight(Tensor(bias, shape)))
    }
  }

  private func encoded(_ make: () throws(GraphError) -> Weight) throws(FormatError) -> Weight {
    do { return try make() } catch { throw malformed(error.reason) }
  }

  private func quantization() throws(FormatError) -> LayerParameters {
    guard let quantization = try parameters.message(Fields.quantization) else {
      throw malformed("raw values without quantization parameters")
    }
    return quantization
  }

  private func bits(_ quantization: LayerParameters) throws(FormatError) -> Int {
    let bits = try quantization.integer(NetworkSchema.QuantizationParams.numberOfBits) ?? 0
    guard (1...8).contains(bits) else { throw malformed("\(bits) bits, expected 1 to 8") }
    return bits
  }

  private func check(_ found: Int, _ expected: Int, _ type: TensorType, unit: String = "bytes") throws(FormatError) {
    guard found == expected else {
      throw malformed("\(type) takes \(expected) \(unit), the file has \(found)")
    }
  }

  private func malformed(_ reason: String) -> FormatError {
    FormatError(
      .malformed, file: parameters.message.file, place: "weights", offset: parameters.message.offset, reason)
  }
}
