public import FoundationEssentials
public import KelvinImages

/// What kind of value a feature takes.
public enum FeatureType: String, Hashable, Sendable {
  case int64, double, string, image, multiArray, dictionary, sequence, state
}

/// A value of an input or output.
public struct FeatureValue: Hashable, Sendable {
  enum Storage: Hashable, Sendable {
    case int64(Int64)
    case double(Double)
    case string(String)
    case image(ImageInput)
    case multiArray(MultiArray)
    case dictionary([ClassLabel: Double])
  }

  /// A picture and how it is brought to the size a model takes; nil where it must have that size already.
  struct ImageInput: Hashable, Sendable {
    var pixels: PixelBuffer
    var orientation: ImageOrientation
    var cropAndScale: ImageCropAndScale?
    var regionOfInterest: PixelRect?
  }

  let storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  public init(int64 value: Int64) { storage = .int64(value) }
  public init(double value: Double) { storage = .double(value) }
  public init(string value: String) { storage = .string(value) }
  public init(multiArray value: MultiArray) { storage = .multiArray(value) }

  /// A picture of exactly the size that the model takes.
  public init(pixelBuffer value: PixelBuffer) {
    storage = .image(ImageInput(pixels: value, orientation: .up))
  }

  /// Label probabilities.
  public init(dictionary value: [ClassLabel: Double]) { storage = .dictionary(value) }

  /// A picture, turned upright and brought to the size that the model takes.
  ///
  /// - Parameters:
  ///   - orientation: how the stored pixels are turned.
  ///   - cropAndScale: as Core ML's image constructors, `scaleToFit` unless said.
  ///   - regionOfInterest: the part of the upright picture to take, all of it where nil. A prediction refuses a region
  ///     outside the picture.
  public init(
    image value: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFit,
    regionOfInterest: PixelRect? = nil
  ) {
    storage = .image(
      ImageInput(
        pixels: value, orientation: orientation, cropAndScale: cropAndScale, regionOfInterest: regionOfInterest))
  }

  /// A picture file, turned upright as its EXIF orientation says unless `orientation` does.
  ///
  /// - Throws: `ImageError` where the file cannot be read or is no picture.
  public init(
    imageAt url: URL, orientation: ImageOrientation? = nil, cropAndScale: ImageCropAndScale = .scaleToFit
  ) throws(ImageError) {
    let decoded = try ImageFile.decode(path: url.path, orientation: orientation)
    self.init(image: decoded.pixels, orientation: decoded.orientation, cropAndScale: cropAndScale)
  }

  public var type: FeatureType {
    switch storage {
    case .int64: .int64
    case .double: .double
    case .string: .string
    case .image: .image
    case .multiArray: .multiArray
    case .dictionary: .dictionary
    }
  }

  /// The number, or 0 where the value is of another type.
  public var int64Value: Int64 { if case .int64(let value) = storage { value } else { 0 } }
  /// The number, or 0 where the value is of another type.
  public var doubleValue: Double { if case .double(let value) = storage { value } else { 0 } }
  /// The text, or an empty one where the value is of another type.
  public var stringValue: String { if case .string(let value) = storage { value } else { "" } }
  public var multiArrayValue: MultiArray? { if case .multiArray(let value) = storage { value } else { nil } }
  public var imageBufferValue: PixelBuffer? { if case .image(let value) = storage { value.pixels } else { nil } }
  /// The probabilities by label, or an empty dictionary where the value is of another type.
  public var dictionaryValue: [ClassLabel: Double] {
    if case .dictionary(let value) = storage { value } else { [:] }
  }
}

/// A class label: text or a number, as the model has it.
public enum ClassLabel: Hashable, Sendable, CustomStringConvertible {
  case string(String)
  case int64(Int64)

  public var description: String {
    switch self {
    case .string(let text): text
    case .int64(let number): "\(number)"
    }
  }
}

extension ClassLabel: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .int64(value) }
}
