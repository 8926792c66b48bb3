package import KelvinImages
import KelvinBasics

/// The mapping of a pixel in 0…255 to a plain tensor input: `scale · pixel + bias` for each of red, green and blue.
///
/// Image inputs declare this mapping themselves; tensor inputs do not. A rule is written as a range, or as parts between
/// slashes: a range, the mean and the standard deviation of each channel in that range, and `bgr` for a tensor whose
/// channels are blue, green and red. Without a range, pixels are in 0…255.
///
/// ```swift
/// let rule = PixelNormalization(rawValue: "mean=123.7,116.3,103.5/deviation=58.4,57.1,57.4/bgr")
/// ```
public struct PixelNormalization: RawRepresentable, Sendable, Hashable, CaseIterable {
  /// No normalization: pixels in 0…255.
  public static let none = Self("0:255", divisor: 1)
  /// Pixels in 0…1.
  public static let unit = Self("0:1", divisor: 255)
  /// Pixels in −1…1.
  public static let symmetric = Self("-1:1", divisor: 127.5, offset: -1)
  /// Standardization with mean (0.485, 0.456, 0.406) and standard deviation (0.229, 0.224, 0.225), those of ImageNet's
  /// pixels in 0…1.
  public static let imagenet = Self(
    "imagenet", divisor: 255, mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225])

  /// The predefined rules.
  public static let allCases: [Self] = [.none, .unit, .symmetric, .imagenet]

  /// The rule as text.
  public let rawValue: String
  /// The range is `pixel / divisor + offset`.
  private var divisor: Float
  private var offset: Float
  /// One number, or one each for red, green and blue.
  private var mean: [Float]
  private var deviation: [Float]
  /// The order of the channels of the tensor, if it has three.
  package private(set) var order = ChannelOrder.rgb

  /// The raw values, for messages.
  package static let names = "0:255, 0:1, -1:1, imagenet, or parts such as 0:1/mean=0.5/deviation=0.25/bgr"

  private init(
    _ rawValue: String, divisor: Float, offset: Float = 0, mean: [Float] = [0], deviation: [Float] = [1]
  ) {
    (self.rawValue, self.divisor, self.offset) = (rawValue, divisor, offset)
    (self.mean, self.deviation) = (mean, deviation)
  }

  /// Reads a rule; nil for an invalid one.
  public init?(rawValue: String) {
    var parts = rawValue.split(separator: "/", omittingEmptySubsequences: false)[...]
    let range = Self.allCases.first { $0.rawValue == parts.first ?? "" }
    if range != nil { parts.removeFirst() }
    let base = range ?? .none
    self.init(rawValue, divisor: base.divisor, offset: base.offset, mean: base.mean, deviation: base.deviation)
    guard range != nil || !parts.isEmpty else { return nil }
    for part in parts {
      switch part.split(separator: "=", maxSplits: 1).map(String.init) {
      case ["bgr"]: order = .bgr
      case let pair where pair.count == 2:
        guard let numbers = Self.numbers(pair[1]) else { return nil }
        switch pair[0] {
        case "mean": mean = numbers
        case "deviation" where numbers.allSatisfy { $0 > 0 }: deviation = numbers
        default: return nil
        }
      default: return nil
      }
    }
  }

  /// Returns one or three numbers.
  private static func numbers(_ text: String) -> [Float]? {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
      NumberText.number($0).map(Float.init)
    }
    let known = numbers.compactMap(\.self).filter(\.isFinite)
    return known.count == numbers.count && [1, 3].contains(known.count) ? known : nil
  }

  public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// Returns the factor of each channel, in the tensor's order.
  ///
  /// - Throws: `invalidRequest` for an unsupported number of channels.
  package func scale(channels: Int) throws(VisionError) -> [Float] {
    try tensorOrder(deviation.map { 1 / (divisor * $0) }, channels)
  }

  /// Returns the bias of each channel, in the tensor's order.
  ///
  /// - Throws: `invalidRequest` for an unsupported number of channels.
  package func bias(channels: Int) throws(VisionError) -> [Float] {
    let count = max(mean.count, deviation.count)
    return try tensorOrder(
      (0..<count).map { (offset - mean[$0 % mean.count]) / deviation[$0 % deviation.count] }, channels)
  }

  private func tensorOrder(_ values: [Float], _ channels: Int) throws(VisionError) -> [Float] {
    guard values.count == 1 || channels == values.count else {
      throw .invalidRequest("the normalization '\(rawValue)' is for 3 channels, the model's input has \(channels)")
    }
    guard values.count > 1 else { return [Float](repeating: values[0], count: channels) }
    return order == .bgr ? values.reversed() : values
  }
}
