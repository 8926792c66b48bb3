/// A `constexpr` operation: it computes a constant from smaller ones.
struct ConstantOperation {
  enum Input {
    /// Elements in the weight file.
    case stored(StoredElements)
    /// A number in the program, int32.
    case number(Int)
    /// Sizes in the program, uint32.
    case sizes([Int])
    /// A string in the program.
    case text(String)
    /// The output with this number of the operation before.
    case output(Int)
  }

  let name: String
  let inputs: [(name: String, value: Input)]
  /// The last output of the last operation is the weight.
  let outputs: [(type: ElementType, shape: [Int])]
}

/// Elements for a weight file.
struct StoredElements {
  private enum Content {
    /// Integers with fewer bits are packed, lowest bits first.
    case integers([UInt8], bits: Int)
    case numbers([Float])
    case halves([UInt16])
  }

  let type: ElementType
  let shape: [Int]
  private let content: Content

  var count: Int { shape.reduce(1, *) }

  /// The number of bytes, known without the bytes.
  var byteCount: Int {
    switch content {
    case .integers(let values, let bits): (values.count * bits + 7) / 8
    case .numbers(let values): values.count * type.byteCount
    case .halves(let values): 2 * values.count
    }
  }

  init(_ values: [UInt8], _ type: ElementType, _ shape: [Int]) {
    (self.type, self.shape) = (type, shape)
    content = .integers(values, bits: type.bits)
  }

  init(_ values: [Int8], _ type: ElementType, _ shape: [Int]) {
    self.init(values.map { UInt8(bitPattern: $0) }, type, shape)
  }

  /// Packs integers into a list of bytes.
  init(packing values: [UInt8], bits: Int) {
    (type, shape) = (.uint8, [(values.count * bits + 7) / 8])
    content = .integers(values, bits: bits)
  }

  /// - Parameter type: float16 or float32.
  init(_ values: [Float], _ type: ElementType, _ shape: [Int]) {
    (self.type, self.shape) = (type, shape)
    content = type == .float16 ? .halves(values.map { Float16($0).bitPattern }) : .numbers(values)
  }

  init(halves: [UInt16], _ shape: [Int]) {
    (type, self.shape) = (.float16, shape)
    content = .halves(halves)
  }

  /// The bytes as in a weight file.
  var bytes: [UInt8] {
    switch content {
    case .integers(let values, let bits): bits < 8 ? Self.packed(values, bits) : values
    case .numbers(let values): Self.littleEndian(values.map(\.bitPattern))
    case .halves(let values): Self.littleEndian(values)
    }
  }

  private static func packed(_ values: [UInt8], _ bits: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity((values.count * bits + 7) / 8)
    var (pending, filled) = (UInt16(0), 0)
    let mask = UInt8(1 << bits - 1)
    for value in values {
      pending |= UInt16(value & mask) << UInt16(filled)
      filled += bits
      if filled >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: pending))
        pending >>= 8
        filled -= 8
      }
    }
    if filled > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
    return bytes
  }

  private static func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ values: [Value]) -> [UInt8] {
    let ordered = values.map(\.littleEndian)
    return ordered.withUnsafeBytes { [UInt8]($0) }
  }
}

extension CompressedWeight {
  /// Returns the operations that compute the weight.
  ///
  /// - Parameters:
  ///   - type: The type of the weight, float16 or float32.
  ///   - system: The version of iOS whose operations the program has: 16, or 18 and later.
  func operations(_ type: ElementType, _ shape: [Int], system: Int) -> [ConstantOperation] {
    switch code {
    case .dense: preconditionFailure("a weight in its own type needs no operation")
    case .half(let bits):
      return [
        ConstantOperation(
          name: "constexpr_cast",
          inputs: [("source_val", .stored(StoredElements(halves: bits, shape))), ("output_dtype", .text("fp32"))],
          outputs: [(type, shape)])
      ]
    case .palette(let code): return system < 18 ? [packed(code, type, shape)] : palette(code, type, shape)
    case .integers(let code): return [system < 18 ? affine(code, type, shape) : blockwise(code, type, shape)]
    case .sparse(let mask, let numbers): return sparse(mask, numbers, type, shape, system: system)
    }
  }

  /// A palette of iOS 16: one table.
  private func packed(_ code: PaletteCode, _ type: ElementType, _ shape: [Int]) -> ConstantOperation {
    ConstantOperation(
      name: "constexpr_lut_to_dense",
      inputs: [
        ("indices", .stored(StoredElements(packing: code.indices, bits: code.bits))),
        ("lut", .stored(StoredElements(code.tables, type, [code.tables.count]))), ("shape", .sizes(shape)),
      ], outputs: [(type, shape)])
  }

  /// A palette of iOS 18. The table's first axes are those of the weight, with the number of groups on the first.
  private func palette(_ code: PaletteCode, _ type: ElementType, _ shape: [Int]) -> [ConstantOperation] {
    var indexShape = shape
    indexShape[0] /= code.vectorSize
    let groups = [code.groupCount] + [Int](repeating: 1, count: shape.count - 1)
    var inputs: [(name: String, value: ConstantOperation.Input)] = [
      (
        "indices",
        .stored(StoredElements(code.indices, ElementType(unsignedBits: code.bits) ?? .uint8, indexShape))
      ), ("lut", .stored(StoredElements(code.tables, type, groups + [1 << code.bits, code.vectorSize]))),
    ]
    if code.vectorSize > 1 { inputs.append(("vector_axis", .number(0))) }
    let lookUp = ConstantOperation(name: "constexpr_lut_to_dense", inputs: inputs, outputs: [(type, shape)])
    guard let scales = code.scales else { return [lookUp] }
    let scaleShape = [shape[0]] + [Int](repeating: 1, count: shape.count - 1)
    return [
      lookUp,
      ConstantOperation(
        name: "constexpr_blockwise_shift_scale",
        inputs: [("data", .output(0)), ("scale", .stored(StoredElements(scales, type, scaleShape)))],
        outputs: [(type, shape)]),
    ]
  }

  /// Integers of iOS 16.
  private func affine(_ code: IntegerCode, _ type: ElementType, _ shape: [Int]) -> ConstantOperation {
    let zeros = [Int8](repeating: 0, count: code.scales.count)
    return ConstantOperation(
      name: "constexpr_affine_dequantize",
      inputs: [
        ("quantized_data", .stored(StoredElements(code.values, .int8, shape))),
        ("scale", .stored(StoredElements(code.scales, type, [code.scales.count]))),
        ("zero_point", .stored(StoredElements(zeros, .int8, [zeros.count]))), ("axis", .number(0)),
      ], outputs: [(type, shape)])
  }

  /// Integers of iOS 18.
  private func blockwise(_ code: IntegerCode, _ type: ElementType, _ shape: [Int]) -> ConstantOperation {
    var scaleShape = [Int](repeating: 1, count: shape.count)
    scaleShape[0] = shape[0]
    if shape.count > 1 { scaleShape[1] = code.blocksPerChannel }
    return ConstantOperation(
      name: "constexpr_blockwise_shift_scale",
      inputs: [
        ("data", .stored(StoredElements(code.values, code.bits == 4 ? .int4 : .int8, shape))),
        ("scale", .stored(StoredElements(code.scales, type, scaleShape))),
      ], outputs: [(type, shape)])
  }

  private func sparse(
    _ mask: [Bool], _ numbers: SparseNumbers, _ type: ElementType, _ shape: [Int], system: Int
  ) -> [ConstantOperation] {
    let mask = mask.map { UInt8($0 ? 1 : 0) }
    let bits = StoredElements(mask, .uint1, shape)
    let rank1 = [Int](repeating: 1, count: shape.count)
    switch numbers {
    case .plain(let numbers):
      let data = ConstantOperation.Input.stored(StoredElements(numbers, type, [numbers.count]))
      let inputs: [(name: String, value: ConstantOperation.Input)] =
        system < 18
        ? [
          ("nonzero_data", data), ("mask", .stored(StoredElements(packing: mask, bits: 1))),
          ("shape", .sizes(shape)),
        ] : [("nonzero_data", data), ("mask", .stored(bits))]
      return [ConstantOperation(name: "constexpr_sparse_to_dense", inputs: inputs, outputs: [(type, shape)])]
    case .palette(let indices, let table):
      let width = table.count.trailingZeroBitCount
      return [
        ConstantOperation(
          name: "constexpr_lut_to_sparse",
          inputs: [
            ("indices_mask", .stored(bits)),
            (
              "indices_nonzero_data",
              .stored(StoredElements(indices, ElementType(unsignedBits: width) ?? .uint8, [indices.count]))
            ), ("lut", .stored(StoredElements(table, type, rank1 + [table.count, 1]))),
          ], outputs: [(.uint1, shape), (type, [indices.count])]), Self.dense(type, shape),
      ]
    case .integers(let code):
      return [
        ConstantOperation(
          name: "constexpr_sparse_blockwise_shift_scale",
          inputs: [
            ("data_mask", .stored(bits)),
            (
              "nonzero_data",
              .stored(StoredElements(code.values, code.bits == 4 ? .int4 : .int8, [code.values.count]))
            ), ("scale", .stored(StoredElements(code.scales, type, [shape[0]] + rank1.dropFirst()))),
          ], outputs: [(.uint1, shape), (type, [code.values.count])]), Self.dense(type, shape),
      ]
    }
  }

  /// Scatters the numbers of the operation before.
  private static func dense(_ type: ElementType, _ shape: [Int]) -> ConstantOperation {
    ConstantOperation(
      name: "constexpr_sparse_to_dense", inputs: [("nonzero_data", .output(1)), ("mask", .output(0))],
      outputs: [(type, shape)])
  }
}
