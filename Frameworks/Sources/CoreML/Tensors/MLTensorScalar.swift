public import Kelvin

/// A type of the numbers in a tensor: `Float`, `Float16`, `Bool`, and integers of up to 32 bits.
public protocol MLTensorScalar: MLShapedArrayScalar {}

extension Float: MLTensorScalar {}
extension Float16: MLTensorScalar {}
extension Int8: MLTensorScalar {}
extension Int16: MLTensorScalar {}
extension Int32: MLTensorScalar {}
extension UInt8: MLTensorScalar {}
extension UInt16: MLTensorScalar, @retroactive ShapedArrayScalar {
  public static var multiArrayDataType: MultiArrayDataType { .uint16 }
}
extension UInt32: MLTensorScalar, @retroactive ShapedArrayScalar {
  public static var multiArrayDataType: MultiArrayDataType { .uint32 }
}
extension Bool: MLTensorScalar, @retroactive ShapedArrayScalar {
  public static var multiArrayDataType: MultiArrayDataType { .bool }
}

extension MultiArrayDataType {
  private static let tensorScalars: [MultiArrayDataType: any MLTensorScalar.Type] = Dictionary(
    uniqueKeysWithValues: ([
      Float.self, Float16.self, Int8.self, Int16.self, Int32.self, UInt8.self, UInt16.self, UInt32.self, Bool.self,
    ] as [any MLTensorScalar.Type]).map { ($0.multiArrayDataType, $0) })

  /// The Swift type of a tensor's numbers; nil for a type that tensors do not have.
  var tensorScalar: (any MLTensorScalar.Type)? { Self.tensorScalars[self] }

  /// Whether the numbers have fractions.
  var isFloatingPoint: Bool { self == .float32 || self == .float16 || self == .float64 }

  /// The kinds of numbers, in the order in which one kind converts to the next.
  private var kind: Int { isFloatingPoint ? 2 : self == .bool ? 0 : 1 }

  private var isSigned: Bool { rawValue.hasPrefix("int") }

  /// Returns the type of a result of numbers of two types. Floating-point types precede integers, and integers precede
  /// Booleans. Of two types of one kind it is the wider one. For a signed and an unsigned integer it is a signed type
  /// that represents both, at most int32.
  func promoted(with other: MultiArrayDataType) -> MultiArrayDataType {
    if self == other { return self }
    if kind != other.kind { return kind > other.kind ? self : other }
    if kind == 2 || isSigned == other.isSigned { return byteCount > other.byteCount ? self : other }
    let (signed, unsigned) = isSigned ? (self, other) : (other, self)
    if signed.byteCount > unsigned.byteCount { return signed }
    return unsigned == .uint8 ? .int16 : .int32
  }

  /// Returns the type that a literal of this type takes beside numbers of `other`: theirs, unless a fraction or a number
  /// would be lost.
  func adapted(to other: MultiArrayDataType) -> MultiArrayDataType { kind <= other.kind ? other : self }
}
