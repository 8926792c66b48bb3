import KelvinGraph
import KelvinImport

/// A `ValueType` message, reduced to its tensor properties.
struct MILType {
  /// The number of the element type; nil if the value is not a tensor.
  var dataType: Int?
  /// The sizes; nil for an unknown size.
  var sizes: [Int?] = []
  /// Whether the value is a state that holds a tensor of this type.
  var isState = false

  init() {}

  init(_ message: WireMessage) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case MILSchema.ValueType.tensorType: try readTensor(field.message())
      case MILSchema.ValueType.stateType:
        if let wrapped = try field.message().message(MILSchema.StateType.wrappedType) {
          self = try MILType(wrapped)
          isState = true
        }
      default: break
      }
    }
  }

  var scalar: ScalarType? { dataType.flatMap { ScalarType(mil: $0) } }

  var source: SourceType { SourceType(scalar: scalar, sizes: sizes, isState: isState) }

  /// The sizes of a tensor; nil unless all are known.
  var shape: Shape? {
    let known = Shape(sizes.compactMap { $0 })
    return dataType != nil && known.rank == sizes.count && known.isAddressable ? known : nil
  }

  /// The tensor type; nil unless the value is a tensor of known sizes and of an element type that Kelvin supports.
  var tensorType: TensorType? {
    guard let scalar, let shape else { return nil }
    return TensorType(scalar, shape)
  }

  /// The packing of elements of fewer than 8 bits; nil for other element types.
  var packing: MILPacking? { dataType.flatMap { MILPacking($0) } }

  private mutating func readTensor(_ message: WireMessage) throws(FormatError) {
    typealias Fields = MILSchema.TensorType
    dataType = 0
    sizes = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.dataType: dataType = try field.integer()
      case Fields.dimensions:
        try field.check(sizes.count, Emitter.rankLimit)
        let constant = try field.message().message(MILSchema.Dimension.constant)
        sizes.append(try constant.map(Self.size))
      default: break
      }
    }
  }

  private static func size(_ message: WireMessage) throws(FormatError) -> Int {
    var size = 0
    try message.each(MILSchema.Dimension.ConstantDimension.size) { (field) throws(FormatError) in
      size = try field.integer()
    }
    return size
  }
}

/// An element type of fewer than 8 bits.
struct MILPacking {
  let bits: Int
  let isSigned: Bool
  /// The type's number in weight files.
  let blobType: UInt32

  /// Creates the packing of an element type.
  ///
  /// - Parameter dataType: A number of MIL's `DataType`.
  init?(_ dataType: Int) {
    typealias Number = MILSchema.DataType
    switch dataType {
    case Number.int4: (bits, isSigned, blobType) = (4, true, 8)
    case Number.uint1: (bits, isSigned, blobType) = (1, false, 9)
    case Number.uint2: (bits, isSigned, blobType) = (2, false, 10)
    case Number.uint4: (bits, isSigned, blobType) = (4, false, 11)
    case Number.uint3: (bits, isSigned, blobType) = (3, false, 12)
    case Number.uint6: (bits, isSigned, blobType) = (6, false, 13)
    default: return nil
    }
  }
}

/// A `NamedValueType` message.
struct MILNamedType {
  var name = ""
  var type = MILType()

  init(type: MILType, name: String) {
    self.type = type
    self.name = name
  }

  init(_ message: WireMessage) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case MILSchema.NamedValueType.name: name = try field.name()
      case MILSchema.NamedValueType.type: type = try MILType(field.message())
      default: break
      }
    }
  }
}

extension ScalarType {
  private typealias Number = MILSchema.DataType
  private static let byMILNumber: [Int: ScalarType] = [
    Number.bool: .bool, Number.float16: .float16, Number.float32: .float32, Number.float64: .float64,
    Number.int8: .int8, Number.int16: .int16, Number.int32: .int32, Number.int64: .int64, Number.uint8: .uint8,
    Number.uint16: .uint16, Number.uint32: .uint32, Number.uint64: .uint64,
  ]

  /// Creates the element type of a number of MIL's `DataType`.
  init?(mil number: Int) {
    guard let scalar = Self.byMILNumber[number] else { return nil }
    self = scalar
  }

  /// Creates the element type of a name as `cast` writes it.
  init?(milName name: String) {
    switch name {
    case "fp16": self = .float16
    case "fp32": self = .float32
    case "fp64": self = .float64
    case "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64": self.init(rawValue: name)
    default: return nil
    }
  }
}
