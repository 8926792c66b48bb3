/// How pixels are stored: sRGB, alpha not premultiplied. Floating-point channels are 0…1, and what lies outside is the nearest
/// of those, but for inputs and outputs of models in Core ML's `GRAYSCALE_FLOAT16`: they have a grey image's numbers as they
/// are.
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
  /// A frame of video, `420f`: a plane of luma, and one of blue and red chroma, a pair for every two by two pixels. 0…255, by
  /// Rec. 601.
  case yCbCr601Full
  /// The same as `420v`: luma is 16…235, chroma 16…240.
  case yCbCr601Video
  /// `420f` by Rec. 709, as most frames of high definition are.
  case yCbCr709Full
  /// `420v` by Rec. 709.
  case yCbCr709Video

  /// Values of one pixel.
  public var channelCount: Int {
    switch self {
    case .rgb8, .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: 3
    case .rgba8, .bgra8, .argb8, .rgba16Half, .rgba32Float: 4
    case .gray8, .gray16Half, .gray32Float: 1
    }
  }

  /// Planes that an image lies in: two where chroma is apart.
  public var planeCount: Int { isLumaApart ? 2 : 1 }

  /// Whether pixels are bytes, one a channel, behind one another.
  package var isBytes: Bool {
    switch self {
    case .rgb8, .rgba8, .bgra8, .argb8, .gray8: true
    default: false
    }
  }

  /// Whether there is no colour.
  package var isGray: Bool { channelCount == 1 }

  var isLumaApart: Bool {
    switch self {
    case .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: true
    default: false
    }
  }

  /// Bytes of one pixel in the first plane.
  package var bytesPerPixel: Int {
    switch self {
    case .rgb8, .rgba8, .bgra8, .argb8, .gray8: channelCount
    case .gray16Half, .rgba16Half: 2 * channelCount
    case .gray32Float, .rgba32Float: 4 * channelCount
    case .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: 1
    }
  }

  /// Where red, green and blue lie within a pixel of bytes. A grey pixel is all three.
  package var colorOffsets: (red: Int, green: Int, blue: Int) {
    switch self {
    case .bgra8: (2, 1, 0)
    case .argb8: (1, 2, 3)
    case .gray8: (0, 0, 0)
    default: (0, 1, 2)
    }
  }

  /// Where alpha lies within a pixel of bytes; nil where there is none.
  package var alphaOffset: Int? {
    switch self {
    case .rgba8, .bgra8: 3
    case .argb8: 0
    default: nil
    }
  }

  /// What each plane of an image takes: bytes of a row, and rows.
  package func planes(width: Int, height: Int) -> [(rowBytes: Int, rows: Int)] {
    let first = (width * bytesPerPixel, height)
    return isLumaApart ? [first, ((width + 1) / 2 * 2, (height + 1) / 2)] : [first]
  }
}
