public import Kelvin

/// Returns the code of four characters.
private func code(_ text: StaticString) -> OSType {
  text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | OSType($1) } }
}

/// Alpha, red, green, blue, 8 bits each.
public let kCVPixelFormatType_32ARGB: OSType = 0x20
/// Red, green, blue, 8 bits each.
public let kCVPixelFormatType_24RGB: OSType = 0x18
/// Blue, green, red, alpha, 8 bits each.
public let kCVPixelFormatType_32BGRA = code("BGRA")
/// Red, green, blue, alpha, 8 bits each.
public let kCVPixelFormatType_32RGBA = code("RGBA")
/// One channel of 8 bits.
public let kCVPixelFormatType_OneComponent8 = code("L008")
/// One float16 channel.
public let kCVPixelFormatType_OneComponent16Half = code("L00h")
/// One float32 channel.
public let kCVPixelFormatType_OneComponent32Float = code("L00f")
/// Red, green, blue, alpha, float16.
public let kCVPixelFormatType_64RGBAHalf = code("RGhA")
/// Red, green, blue, alpha, float32.
public let kCVPixelFormatType_128RGBAFloat = code("RGfA")
/// A plane of luma, 16…235, and a plane of chroma pairs for every 2 × 2 pixels.
public let kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange = code("420v")
/// A plane of luma, 0…255, and a plane of chroma pairs for every 2 × 2 pixels.
public let kCVPixelFormatType_420YpCbCr8BiPlanarFullRange = code("420f")

// Formats that ``CVPixelBufferCreate(_:_:_:_:_:_:)`` refuses. They exist so that programs can compare with them.

/// Blue, green, red, 8 bits each. Not supported.
public let kCVPixelFormatType_24BGR = code("24BG")
/// Alpha, blue, green, red, 8 bits each. Not supported.
public let kCVPixelFormatType_32ABGR = code("ABGR")
/// One float16 depth channel. Not supported.
public let kCVPixelFormatType_DepthFloat16 = code("hdep")
/// One float32 depth channel. Not supported.
public let kCVPixelFormatType_DepthFloat32 = code("fdep")

extension PixelFormat {
  /// Returns Kelvin's format for a format of Core Video; nil if it is not supported.
  ///
  /// - Parameter isRec709: whether the matrix of a video frame is that of Rec. 709, else of Rec. 601.
  public init?(_ type: OSType, isRec709: Bool = false) {
    switch type {
    case kCVPixelFormatType_32ARGB: self = .argb8
    case kCVPixelFormatType_24RGB: self = .rgb8
    case kCVPixelFormatType_32BGRA: self = .bgra8
    case kCVPixelFormatType_32RGBA: self = .rgba8
    case kCVPixelFormatType_OneComponent8: self = .gray8
    case kCVPixelFormatType_OneComponent16Half: self = .gray16Half
    case kCVPixelFormatType_OneComponent32Float: self = .gray32Float
    case kCVPixelFormatType_64RGBAHalf: self = .rgba16Half
    case kCVPixelFormatType_128RGBAFloat: self = .rgba32Float
    case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: self = isRec709 ? .yCbCr709Video : .yCbCr601Video
    case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: self = isRec709 ? .yCbCr709Full : .yCbCr601Full
    default: return nil
    }
  }

  /// The number of bytes of one pixel in the first plane.
  var pixelByteCount: Int {
    switch self {
    case .rgb8, .rgba8, .bgra8, .argb8, .gray8: channelCount
    case .gray16Half, .rgba16Half: 2 * channelCount
    case .gray32Float, .rgba32Float: 4 * channelCount
    case .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video: 1
    }
  }
}
