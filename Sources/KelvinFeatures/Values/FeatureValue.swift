public import FoundationEssentials
import KelvinBasics
public import KelvinImages

/// The type of a feature's values.
public enum FeatureType: String, Hashable, Sendable {
  /// A 64-bit integer.
  case int64
  /// A float64 number.
  case double
  /// A string.
  case string
  /// An image.
  case image
  /// A ``MultiArray``.
  case multiArray
  /// Numbers by string or integer key.
  case dictionary
  /// A ``FeatureSequence``.
  case sequence
  /// The state of a stateful model, such as a KV cache. Predictions read and update it through a `ModelState`.
  case state
}

/// The value of an input or output.
public struct FeatureValue: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case int64(Int64)
    case double(Double)
    case string(String)
    case image(ImageInput)
    /// An image in the caller's memory, which is an output's destination.
    case backing(PixelBacking)
    case multiArray(MultiArray)
    case dictionary([ClassLabel: Double])
    case sequence(FeatureSequence)
    case undefined(FeatureType)
  }

  /// An image with the parameters that fit it to the model's input size; nil if it must already have that size.
  package struct ImageInput: Hashable, Sendable {
    package var pixels: PixelBuffer
    package var orientation: ImageOrientation
    package var cropAndScale: ImageCropAndScale?
    package var regionOfInterest: PixelRect?
  }

  package let storage: Storage

  package init(_ storage: Storage) { self.storage = storage }

  /// Creates an integer value.
  public init(int64 value: Int64) { storage = .int64(value) }
  /// Creates a floating-point value.
  public init(double value: Double) { storage = .double(value) }
  /// Creates a string value.
  public init(string value: String) { storage = .string(value) }
  /// Creates an array value that refers to the array, without a copy.
  public init(multiArray value: MultiArray) { storage = .multiArray(value) }
  /// Creates an array value from a copy of a shaped array's numbers.
  public init(shapedArray value: some ShapedArrayProtocol) { storage = .multiArray(MultiArray(value)) }
  /// Creates a value from a sequence of strings, integers, dictionaries or arrays.
  public init(sequence value: FeatureSequence) { storage = .sequence(value) }
  /// Creates an undefined value of a type, for an optional input that is omitted.
  public init(undefined type: FeatureType) { storage = .undefined(type) }

  /// Creates an image value. The image must have the exact size that the model takes.
  public init(pixelBuffer value: PixelBuffer) {
    storage = .image(ImageInput(pixels: value, orientation: .up))
  }

  /// Creates a dictionary of numbers by label, such as probabilities.
  public init(dictionary value: [ClassLabel: Double]) { storage = .dictionary(value) }

  /// Creates an image value that is turned upright and scaled to the model's input size.
  ///
  /// - Parameters:
  ///   - value: the image.
  ///   - orientation: the orientation of the stored pixels.
  ///   - cropAndScale: how the image is fitted to the model's input size.
  ///   - cropRect: the region of the upright image to use, in pixels from its top left; nil for the whole image. A
  ///     prediction refuses a region outside the image.
  public init(
    image value: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFit,
    cropRect: PixelRect? = nil
  ) {
    storage = .image(
      ImageInput(
        pixels: value, orientation: orientation, cropAndScale: cropAndScale, regionOfInterest: cropRect))
  }

  /// Reads an image file. The image is turned upright by its EXIF orientation, unless `orientation` is given.
  ///
  /// - Parameters:
  ///   - url: the image file.
  ///   - orientation: the orientation of the stored pixels, which replaces the file's.
  ///   - cropAndScale: how the image is fitted to the model's input size.
  ///   - cropRect: the region of the upright image to use, in pixels from its top left; nil for the whole image.
  /// - Throws: `ImageError` if the file cannot be read or is not an image.
  public init(
    imageAt url: URL, orientation: ImageOrientation? = nil, cropAndScale: ImageCropAndScale = .scaleToFit,
    cropRect: PixelRect? = nil
  ) throws(ImageError) {
    let decoded = try ImageCodec.decode(path: url.path, orientation: orientation)
    self.init(
      image: decoded.pixels, orientation: decoded.orientation, cropAndScale: cropAndScale, cropRect: cropRect)
  }

  /// The type of the value.
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

  /// Whether the value is undefined and has only a type.
  public var isUndefined: Bool { if case .undefined = storage { true } else { false } }
  // Swift 6.3.1 fails to compile some functions into which several of these are inlined.

  /// The integer; nil for a value of another type.
  @inline(never) public var int64Value: Int64? { if case .int64(let value) = storage { value } else { nil } }
  /// The number; nil for a value of another type.
  @inline(never) public var doubleValue: Double? { if case .double(let value) = storage { value } else { nil } }
  /// The string; nil for a value of another type.
  @inline(never) public var stringValue: String? { if case .string(let value) = storage { value } else { nil } }
  /// The array, without a copy; nil for a value of another type.
  public var multiArrayValue: MultiArray? { if case .multiArray(let value) = storage { value } else { nil } }
  /// The image as stored; nil for a value of another type. An image in a caller's memory is copied.
  public var imageBufferValue: PixelBuffer? {
    switch storage {
    case .image(let value): value.pixels
    case .backing(let value): value.pixelBuffer
    default: nil
    }
  }
  /// The numbers by label; nil for a value of another type.
  @inline(never) public var dictionaryValue: [ClassLabel: Double]? {
    if case .dictionary(let value) = storage { value } else { nil }
  }
  /// The sequence; nil for a value of another type.
  public var sequenceValue: FeatureSequence? { if case .sequence(let value) = storage { value } else { nil } }

  /// Returns the array as a shaped array; nil if the value is not an array of this element type.
  public func shapedArrayValue<Scalar: ShapedArrayScalar>(of type: Scalar.Type) -> ShapedArray<Scalar>? {
    guard let array = multiArrayValue, array.dataType == type.multiArrayDataType else { return nil }
    return ShapedArray(array)
  }
}

extension FeatureValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
  /// Creates an integer value.
  public init(integerLiteral value: Int64) { self.init(int64: value) }
  /// Creates a floating-point value.
  public init(floatLiteral value: Double) { self.init(double: value) }
  /// Creates a string value.
  public init(stringLiteral value: String) { self.init(string: value) }
}

/// A class label: a string or an integer, as in the model.
public enum ClassLabel: Hashable, Sendable, CustomStringConvertible {
  /// A string label.
  case string(String)
  /// An integer label.
  case int64(Int64)

  /// The string, or the integer in digits.
  public var description: String {
    switch self {
    case .string(let text): text
    case .int64(let number): "\(number)"
    }
  }

  /// Whether two labels are the same integer or have the same bytes. Canonically equivalent strings are different labels.
  public static func == (a: ClassLabel, b: ClassLabel) -> Bool {
    switch (a, b) {
    case (.string(let a), .string(let b)): ExactString(a) == ExactString(b)
    case (.int64(let a), .int64(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let text): hasher.combine(ExactString(text))
    case .int64(let number): hasher.combine(number)
    }
  }
}

extension ClassLabel: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// Creates a string label.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an integer label.
  public init(integerLiteral value: Int64) { self = .int64(value) }
}
