/// The mapping of a pixel in 0…255 to a plain tensor input: `scale · pixel + bias` for each of red, green and blue.
///
/// Image inputs declare this mapping themselves; tensor inputs do not.
public enum PixelNormalization: String, Sendable, Hashable, CaseIterable {
  /// No normalization: pixels in 0…255.
  case none = "0:255"
  /// Pixels in 0…1.
  case unit = "0:1"
  /// Pixels in −1…1.
  case symmetric = "-1:1"
  /// Standardization with mean (0.485, 0.456, 0.406) and standard deviation (0.229, 0.224, 0.225), those of ImageNet's
  /// pixels in 0…1.
  case imagenet

  /// The raw values, for messages.
  package static let names = "0:255, 0:1, -1:1 or imagenet"

  private static let mean: [Float] = [0.485, 0.456, 0.406]
  private static let deviation: [Float] = [0.229, 0.224, 0.225]

  /// Returns the factor of each channel.
  ///
  /// - Throws: `invalidRequest` for an unsupported number of channels.
  package func scale(channels: Int) throws(VisionError) -> [Float] {
    switch self {
    case .none: [Float](repeating: 1, count: channels)
    case .unit: [Float](repeating: 1 / 255, count: channels)
    case .symmetric: [Float](repeating: 2 / 255, count: channels)
    case .imagenet: try Self.colours(Self.deviation.map { 1 / (255 * $0) }, channels)
    }
  }

  /// Returns the bias of each channel.
  ///
  /// - Throws: `invalidRequest` for an unsupported number of channels.
  package func bias(channels: Int) throws(VisionError) -> [Float] {
    switch self {
    case .none, .unit: [Float](repeating: 0, count: channels)
    case .symmetric: [Float](repeating: -1, count: channels)
    case .imagenet: try Self.colours(zip(Self.mean, Self.deviation).map { -$0 / $1 }, channels)
    }
  }

  private static func colours(_ values: [Float], _ channels: Int) throws(VisionError) -> [Float] {
    guard channels == values.count else {
      throw .invalidRequest("ImageNet's normalization is for 3 channels, the model's input has \(channels)")
    }
    return values
  }
}
