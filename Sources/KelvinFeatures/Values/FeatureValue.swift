public import FoundationEssentials
public import KelvinImages

/// What kind of value a feature takes.
public enum FeatureType: String, Hashable, Sendable {
  /// A whole number of 64 bits.
  case int64
  /// A float64.
  case double
  /// A text.
  case string
  /// An image.
  case image
  /// A ``MultiArray``.
  case multiArray
  /// Numbers by text or whole number.
  case dictionary
  /// A ``FeatureSequence``.
  case sequence
  /// Memory of a stateful model. Kelvin does not run such models yet.
  case state
}

/// A value of an input or output.
public struct FeatureValue: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case int64(Int64)
    case double(Double)
    case string(String)
    case image(ImageInput)
    /// An image in memory that a caller lent for an output.
    case backing(PixelBacking)
    case multiArray(MultiArray)
    case dictionary([ClassLabel: Double])
    case sequence(FeatureSequence)
    case undefined(FeatureType)
  }

  /// An image and how it is brought to the size a model takes; nil where it must have that size already.
  package struct ImageInput: Hashable, Sendable {
    package var pixels: PixelBuffer
    package var orientation: ImageOrientation
    package var cropAndScale: ImageCropAndScale?
    package var regionOfInterest: PixelRect?
  }

  package let storage: Storage

  package init(_ storage: Storage) { self.storage = storage }

  /// A whole number.
  public init(int64 value: Int64) { storage = .int64(value) }
  /// A number.
  public init(double value: Double) { storage = .double(value) }
  /// A text.
  public init(string value: String) { storage = .string(value) }
  /// An array. The value refers to it, without a copy.
  public init(multiArray value: MultiArray) { storage = .multiArray(value) }
  /// A copy of a shaped array's numbers.
  public init(shapedArray value: some ShapedArrayProtocol) { storage = .multiArray(MultiArray(value)) }
  /// Texts, whole numbers, dictionaries or arrays in a row.
  public init(sequence value: FeatureSequence) { storage = .sequence(value) }
  /// No value of a type: an optional input that is left out.
  public init(undefined type: FeatureType) { storage = .undefined(type) }

  /// An image of exactly the size that the model takes.
  public init(pixelBuffer value: PixelBuffer) {
    storage = .image(ImageInput(pixels: value, orientation: .up))
  }

  /// Numbers by label, such as probabilities.
  public init(dictionary value: [ClassLabel: Double]) { storage = .dictionary(value) }

  /// An image, turned upright and brought to the size that the model takes.
  ///
  /// - Parameters:
  ///   - value: the image.
  ///   - orientation: how the stored pixels are turned.
  ///   - cropAndScale: how the image is brought to that size.
  ///   - cropRect: the part of the upright image to take, in pixels from its top left; all of it where nil. A
  ///     prediction refuses a region outside the image.
  public init(
    image value: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFit,
    cropRect: PixelRect? = nil
  ) {
    storage = .image(
      ImageInput(
        pixels: value, orientation: orientation, cropAndScale: cropAndScale, regionOfInterest: cropRect))
  }

  /// An image file, turned upright as its EXIF orientation says unless `orientation` does.
  ///
  /// - Parameters:
  ///   - url: the image file.
  ///   - orientation: how the stored pixels are turned, in place of what the file says.
  ///   - cropAndScale: how the image is brought to the size that the model takes.
  ///   - cropRect: the part of the upright image to take, in pixels from its top left; all of it where nil.
  /// - Throws: `ImageError` where the file cannot be read or is not an image.
  public init(
    imageAt url: URL, orientation: ImageOrientation? = nil, cropAndScale: ImageCropAndScale = .scaleToFit,
    cropRect: PixelRect? = nil
  ) throws(ImageError) {
    let decoded = try ImageFile.decode(path: url.path, orientation: orientation)
    self.init(
      image: decoded.pixels, orientation: decoded.orientation, cropAndScale: cropAndScale, cropRect: cropRect)
  }

  /// The kind of the value.
  public var type: FeatureType {
    switch storage {
    case .int64: .int64
    case .double: .double
    case .string: .string
    case .image, .backing: .image
    case .multiArray: .multiArray
    case .dictionary: .dictionary
    case .sequence: .sequence
    case .undefined(let type): type
    }
  }

  /// Whether there is no value, only a type.
  public var isUndefined: Bool { if case .undefined = storage { true } else { false } }
  /// The number, or 0 where the value is of another type.
  public var int64Value: Int64 { if case .int64(let value) = storage { value } else { 0 } }
  /// The number, or 0 where the value is of another type.
  public var doubleValue: Double { if case .double(let value) = storage { value } else { 0 } }
  /// The text, or an empty one where the value is of another type.
  public var stringValue: String { if case .string(let value) = storage { value } else { "" } }
  /// The array itself, or nil where the value is of another type.
  public var multiArrayValue: MultiArray? { if case .multiArray(let value) = storage { value } else { nil } }
  /// The image as it is stored, or nil where the value is of another type. A copy where it lies in a caller's memory.
  public var imageBufferValue: PixelBuffer? {
    switch storage {
    case .image(let value): value.pixels
    case .backing(let value): value.pixelBuffer
    default: nil
    }
  }
  /// The numbers by label, or an empty dictionary where the value is of another type.
  public var dictionaryValue: [ClassLabel: Double] {
    if case .dictionary(let value) = storage { value } else { [:] }
  }
  /// The sequence, or nil where the value is of another type.
  public var sequenceValue: FeatureSequence? { if case .sequence(let value) = storage { value } else { nil } }

  /// The array as a value, or nil where the value is not an array of this type.
  public func shapedArrayValue<Scalar: ShapedArrayScalar>(of type: Scalar.Type) -> ShapedArray<Scalar>? {
    guard let array = multiArrayValue, array.dataType == type.multiArrayDataType else { return nil }
    return ShapedArray(array)
  }
}

/// A class label: text or a number, as the model has it.
public enum ClassLabel: Hashable, Sendable, CustomStringConvertible {
  /// A text.
  case string(String)
  /// A whole number.
  case int64(Int64)

  /// The text, or the number in digits.
  public var description: String {
    switch self {
    case .string(let text): text
    case .int64(let number): "\(number)"
    }
  }
}

extension ClassLabel: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .int64(value) }
}
