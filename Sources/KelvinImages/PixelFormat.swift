/// How one pixel is stored: interleaved 8-bit channels, sRGB, alpha not premultiplied.
public enum PixelFormat: Hashable, Sendable, CaseIterable {
  /// Red, green, blue.
  case rgb8
  /// Red, green, blue, alpha.
  case rgba8
  /// Blue, green, red, alpha.
  case bgra8
  /// One channel of luma.
  case gray8

  /// Bytes of one pixel, one a channel.
  public var channelCount: Int {
    switch self {
    case .rgb8: 3
    case .rgba8, .bgra8: 4
    case .gray8: 1
    }
  }

  /// Where red, green and blue lie within a pixel. A grey pixel is all three.
  package var colorOffsets: (red: Int, green: Int, blue: Int) {
    switch self {
    case .rgb8, .rgba8: (0, 1, 2)
    case .bgra8: (2, 1, 0)
    case .gray8: (0, 0, 0)
    }
  }
}
