public import CoreVideo
public import Foundation

/// A color space. Colors are those of sRGB whatever its name; only the number of components has an effect.
public final class CGColorSpace: Hashable, Sendable {
  /// The name of sRGB.
  public nonisolated(unsafe) static let sRGB: CFString = "kCGColorSpaceSRGB"
  /// The name of linear sRGB.
  public nonisolated(unsafe) static let linearSRGB: CFString = "kCGColorSpaceLinearSRGB"
  /// The name of Display P3.
  public nonisolated(unsafe) static let displayP3: CFString = "kCGColorSpaceDisplayP3"
  /// The name of gray values with gamma 2.2.
  public nonisolated(unsafe) static let genericGrayGamma2_2: CFString = "kCGColorSpaceGenericGrayGamma2_2"
  /// The name of linear gray values.
  public nonisolated(unsafe) static let linearGray: CFString = "kCGColorSpaceLinearGray"

  private let text: String
  /// The number of color components: 1 or 3.
  public let numberOfComponents: Int
  /// The kind of the color space.
  public var model: CGColorSpaceModel { numberOfComponents == 1 ? .monochrome : .rgb }
  /// The name of the color space.
  public var name: CFString? { NSString(string: text) }

  /// Creates a color space from its name; nil for an unknown name.
  public init?(name: CFString) {
    text = "\(name)"
    switch name {
    case Self.sRGB, Self.linearSRGB, Self.displayP3: numberOfComponents = 3
    case Self.genericGrayGamma2_2, Self.linearGray: numberOfComponents = 1
    default: return nil
    }
  }

  init(components: Int) {
    numberOfComponents = components
    text = components == 1 ? "kCGColorSpaceDeviceGray" : "kCGColorSpaceDeviceRGB"
  }

  public static func == (left: CGColorSpace, right: CGColorSpace) -> Bool { left.text == right.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The kind of a color space.
public enum CGColorSpaceModel: Int32, Sendable {
  /// Another kind.
  case unknown = -1
  /// One channel of gray.
  case monochrome
  /// Red, green and blue.
  case rgb
}

/// Returns a color space of three components.
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace(components: 3) }

/// Returns a color space of gray values.
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace { CGColorSpace(components: 1) }

/// A color with straight alpha. Components are in 0…1.
public final class CGColor: Hashable, Sendable {
  /// Red, green, blue and alpha, or gray and alpha.
  private let values: [CGFloat]
  /// Red, green, blue and alpha, or gray and alpha.
  public var components: [CGFloat]? { values }
  /// The number of components, alpha included.
  public var numberOfComponents: Int { values.count }
  /// The opacity.
  public var alpha: CGFloat { values[values.count - 1] }

  /// Creates a color of sRGB.
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) { values = [red, green, blue, alpha] }

  /// Creates a gray.
  public init(gray: CGFloat, alpha: CGFloat) { values = [gray, alpha] }

  var pixel: BytePixel {
    let bytes = values.map { UInt8((min(max(Double($0), 0), 1) * 255).rounded()) }
    return bytes.count == 2
      ? BytePixel(red: bytes[0], green: bytes[0], blue: bytes[0], alpha: bytes[1])
      : BytePixel(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes[3])
  }

  public static func == (left: CGColor, right: CGColor) -> Bool { left.values == right.values }
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
