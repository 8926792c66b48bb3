public import CoreVideo
public import Foundation
public import Kelvin
import Synchronization

/// The value of an input or output.
///
/// As in Core ML, `int64Value`, `doubleValue`, `stringValue` and `dictionaryValue` of a value of another type are 0 or
/// empty. Kelvin's value, `kelvin`, has nil there.
public final class MLFeatureValue: NSObject, @unchecked Sendable {
  /// Kelvin's value.
  public let kelvin: FeatureValue
  /// The array; nil for other types.
  public let multiArrayValue: MLMultiArray?
  private let buffer: Mutex<CVPixelBuffer?>

  private init(_ value: FeatureValue, _ array: MLMultiArray?, _ buffer: CVPixelBuffer?) {
    kelvin = value
    multiArrayValue = array ?? value.multiArrayValue.map { MLMultiArray($0) }
    self.buffer = Mutex(buffer)
  }

  /// Creates a value from one of Kelvin's. An array has the same memory.
  public convenience init(_ value: FeatureValue) { self.init(value, nil, nil) }
  /// Creates an integer.
  public convenience init(int64 value: Int64) { self.init(FeatureValue(int64: value)) }
  /// Creates a number.
  public convenience init(double value: Double) { self.init(FeatureValue(double: value)) }
  /// Creates a string.
  public convenience init(string value: String) { self.init(FeatureValue(string: value)) }
  /// Creates a value that refers to an array, without a copy.
  public convenience init(multiArray value: MLMultiArray) {
    self.init(FeatureValue(multiArray: value.kelvin), value, nil)
  }
  /// Creates a value that refers to an image, without a copy of its pixels. The image must have a size that the model
  /// takes.
  public convenience init(pixelBuffer value: CVPixelBuffer) {
    self.init(FeatureValue(pixelBuffer: value.kelvin), nil, value)
  }
  /// Creates a value from a sequence.
  public convenience init(sequence value: MLSequence) { self.init(FeatureValue(sequence: value.kelvin)) }
  /// Creates a value from a copy of a shaped array's numbers.
  public convenience init(shapedArray value: some MLShapedArrayProtocol) { self.init(FeatureValue(shapedArray: value)) }

  /// Creates a value without contents, for an optional input that is omitted.
  ///
  /// - Precondition: the type is not `invalid`.
  public convenience init(undefined type: MLFeatureType) {
    guard let type = type.kelvin else { preconditionFailure("an undefined value has a type") }
    self.init(FeatureValue(undefined: type))
  }

  /// Creates a dictionary of numbers.
  ///
  /// - Throws: `MLModelError` (`featureType`) if the keys are not all strings or all integers.
  public convenience init(dictionary value: [AnyHashable: NSNumber]) throws {
    var entries: [ClassLabel: Double] = [:]
    for (key, number) in value {
      let label: ClassLabel
      switch key.base {
      case let text as String: label = .string(text)
      case let integer as NSNumber: label = .int64(integer.int64Value)
      default:
        throw MLModelError(.featureType, "the key '\(key)' of a dictionary is neither a string nor an integer")
      }
      entries[label] = number.doubleValue
    }
    let integers = entries.keys.filter { if case .int64 = $0 { true } else { false } }.count
    guard integers == 0 || integers == entries.count else {
      throw MLModelError(.featureType, "a dictionary has string keys and integer keys; use keys of one type")
    }
    self.init(FeatureValue(dictionary: entries))
  }

  /// The type of the value.
  public var type: MLFeatureType { MLFeatureType(kelvin.type) }
  /// Whether the value has no contents.
  public var isUndefined: Bool { kelvin.isUndefined }
  /// The integer; 0 for other types.
  public var int64Value: Int64 { kelvin.int64Value ?? 0 }
  /// The number; 0 for other types.
  public var doubleValue: Double { kelvin.doubleValue ?? 0 }
  /// The string; empty for other types.
  public var stringValue: String { kelvin.stringValue ?? "" }
  /// The sequence; nil for other types.
  public var sequenceValue: MLSequence? { kelvin.sequenceValue.map { MLSequence($0) } }

  /// The image; nil for other types. Every access gives the same buffer.
  public var imageBufferValue: CVPixelBuffer? {
    buffer.withLock { buffer in
      if let buffer { return buffer }
      buffer = kelvin.imageBufferValue.flatMap { CVBuffer.copying($0) }
      return buffer
    }
  }

  /// The numbers by string or integer; empty for other types.
  public var dictionaryValue: [AnyHashable: NSNumber] {
    var numbers: [AnyHashable: NSNumber] = [:]
    for (label, number) in kelvin.dictionaryValue ?? [:] {
      switch label {
      case .string(let text): numbers[AnyHashable(text)] = NSNumber(value: number)
      case .int64(let integer): numbers[AnyHashable(NSNumber(value: integer))] = NSNumber(value: number)
      }
    }
    return numbers
  }

  /// Returns the array as a shaped array; nil if the value is not an array of this element type.
  public func shapedArrayValue<Scalar: MLShapedArrayScalar>(of type: Scalar.Type) -> MLShapedArray<Scalar>? {
    kelvin.shapedArrayValue(of: type)
  }

  /// Returns whether both have the same type and contents.
  public func isEqual(to value: MLFeatureValue) -> Bool { kelvin == value.kelvin }
  /// Returns whether both have the same type and contents.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLFeatureValue).map { kelvin == $0.kelvin } ?? false
  }
  /// A hash of the contents.
  public override var hash: Int { kelvin.hashValue }
  /// The type and the contents.
  public override var description: String {
    switch type {
    case .int64: "Int64 : \(int64Value)"
    case .double: "Double : \(doubleValue)"
    case .string: "String : \(stringValue)"
    case .multiArray: "MultiArray : \(multiArrayValue?.description ?? "undefined")"
    case .dictionary: "Dictionary : \(dictionaryValue)"
    case .image, .sequence, .state, .invalid: "\(type)"
    }
  }
}

extension MLFeatureValue {
  /// Creates a value from an object of a type that ``MLDictionaryFeatureProvider`` takes.
  ///
  /// - Throws: `MLModelError` (`featureType`) for other types; the error names the feature.
  static func of(_ object: Any, feature name: String) throws -> MLFeatureValue {
    switch object {
    case let value as MLFeatureValue: return value
    case let value as MLMultiArray: return MLFeatureValue(multiArray: value)
    case let value as CVPixelBuffer: return MLFeatureValue(pixelBuffer: value)
    case let value as MLSequence: return MLFeatureValue(sequence: value)
    case let value as String: return MLFeatureValue(string: value)
    case let value as Float16: return MLFeatureValue(double: Double(value))
    case let value as NSNumber: return MLFeatureValue(number: value)
    case let value as any MLShapedArrayProtocol: return MLFeatureValue(shapedArray: value)
    case let value as [AnyHashable: Any]:
      return try MLFeatureValue(
        dictionary: value.mapValues { number in
          guard let number = number as? NSNumber else {
            throw MLModelError(.featureType, "feature '\(name)': '\(number)' in its dictionary is not a number")
          }
          return number
        })
    default:
      throw MLModelError(
        .featureType,
        "feature '\(name)': a \(Swift.type(of: object)) is not a value of a feature; expected an MLFeatureValue, a "
          + "number, a string, an MLMultiArray, a CVPixelBuffer, an MLSequence or a dictionary of numbers")
    }
  }

  private convenience init(number: NSNumber) {
    let kind = number.objCType.pointee
    let isFloating = kind == CChar(UInt8(ascii: "d")) || kind == CChar(UInt8(ascii: "f"))
    self.init(isFloating ? FeatureValue(double: number.doubleValue) : FeatureValue(int64: number.int64Value))
  }
}
