/// The format of stored pixels: sRGB with straight (not premultiplied) alpha.
///
/// Floating-point channels are in 0…1, and values outside are clamped. Inputs and outputs of models in Core ML's
/// `GRAYSCALE_FLOAT16` are an exception: they hold a grey image's numbers unchanged.
public enum PixelFormat: Hashable, Sendable, CaseIterable {
  /// Red, green, blue, 8 bits each.
  case rgb8
  /// Red, green, blue, alpha, 8 bits each.
  case rgba8
  /// Blue, green, red, alpha, 8 bits each.
  case bgra8
  /// Alpha, red, green, blue, 8 bits each.
  case argb8
  /// One channel of luma, 8 bits.
  case gray8
  /// One channel of luma, float16.
  case gray16Half
  /// One channel of luma, float32.
  case gray32Float
  /// Red, green, blue, alpha, float16.
  case rgba16Half
  /// Red, green, blue, alpha, float32.
  case rgba32Float
  /// A video frame, `420f`: a plane of luma, and a plane with a pair of blue and red chroma for every 2 × 2 pixels.
  /// Values are 0…255, by Rec. 601.
  case yCbCr601Full
  /// A video frame as `420v`: luma is 16…235 and chroma 16…240, by Rec. 601.
  case yCbCr601Video
  /// A video frame as `420f` by Rec. 709, the usual matrix of high-definition video.
  case yCbCr709Full
  /// A video frame as `420v` by Rec. 709.
  case yCbCr709Video

  /// The number of values of one pixel.
  public var channelCount: Int {
    switch self {
    case .rgb8, .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: 3
    case .rgba8, .bgra8, .argb8, .rgba16Half, .rgba32Float: 4
    case .gray8, .gray16Half, .gray32Float: 1
    }
  }

  /// The number of planes: two where chroma is separate.
  public var planeCount: Int { isLumaApart ? 2 : 1 }

  /// Whether pixels consist of one byte per channel, interleaved.
  package var isBytes: Bool {
    switch self {
    case .rgb8, .rgba8, .bgra8, .argb8, .gray8: true
    default: false
    }
  }

  /// Whether the format has no colour.
  package var isGray: Bool { channelCount == 1 }

  var isLumaApart: Bool {
    switch self {
    case .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: true
    default: false
    }
  }

  /// The number of bytes of one pixel in the first plane.
  package var bytesPerPixel: Int {
    switch self {
    case .rgb8, .rgba8, .bgra8, .argb8, .gray8: channelCount
    case .gray16Half, .rgba16Half: 2 * channelCount
    case .gray32Float, .rgba32Float: 4 * channelCount
    case .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: 1
    }
  }

  /// The offsets of red, green and blue within a pixel of bytes, all 0 for a grey pixel.
  package var colorOffsets: (red: Int, green: Int, blue: Int) {
    switch self {
    case .bgra8: (2, 1, 0)
    case .argb8: (1, 2, 3)
    case .gray8: (0, 0, 0)
    default: (0, 1, 2)
    }
  }

  /// The offset of alpha within a pixel of bytes; nil where there is none.
  package var alphaOffset: Int? {
    switch self {
    case .rgba8, .bgra8: 3
    case .argb8: 0
    default: nil
    }
  }

  /// Returns the number of bytes per row and the number of rows of each plane.
  package func planes(width: Int, height: Int) -> [(rowBytes: Int, rows: Int)] {
    let first = (width * bytesPerPixel, height)
    return isLumaApart ? [first, ((width + 1) / 2 * 2, (height + 1) / 2)] : [first]
  }
}
