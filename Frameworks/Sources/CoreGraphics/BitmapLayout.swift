import CoreVideo

/// The place and the meaning of alpha in the pixels of a bitmap.
public enum CGImageAlphaInfo: UInt32, Sendable {
  /// There is no alpha.
  case none
  /// The last byte is alpha, and colors are multiplied by it.
  case premultipliedLast
  /// The first byte is alpha, and colors are multiplied by it.
  case premultipliedFirst
  /// The last byte is alpha.
  case last
  /// The first byte is alpha.
  case first
  /// The last byte is not used.
  case noneSkipLast
  /// The first byte is not used.
  case noneSkipFirst
  /// There is only alpha.
  case alphaOnly
}

/// The order of bytes within the pixels of a bitmap.
public enum CGImageByteOrderInfo: UInt32, Sendable {
  /// The bits that hold the order.
  case orderMask = 0x7000
  /// The order in which the channels are named.
  case orderDefault = 0
  /// 16-bit units with their lowest byte first.
  case order16Little = 0x1000
  /// 32-bit units with their lowest byte first.
  case order32Little = 0x2000
  /// 16-bit units with their highest byte first.
  case order16Big = 0x3000
  /// 32-bit units with their highest byte first.
  case order32Big = 0x4000
}

/// The format of pixels of a bitmap.
public enum CGImagePixelFormatInfo: UInt32, Sendable {
  /// Channels of equal numbers of bits.
  case packed = 0
}

/// The layout of pixels in a bitmap: ``CGImageAlphaInfo`` and the order of bytes.
public struct CGBitmapInfo: OptionSet, Sendable {
  public let rawValue: UInt32

  /// Creates a layout from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Creates a layout from its parts.
  public init(alpha: CGImageAlphaInfo, byteOrder: CGImageByteOrderInfo = .orderDefault) {
    rawValue = alpha.rawValue | byteOrder.rawValue
  }

  /// The bits of ``CGImageAlphaInfo``.
  public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
  /// The bits that tell floating-point channels from integers.
  public static let floatInfoMask = CGBitmapInfo(rawValue: 0xF00)
  /// Floating-point channels, which contexts and images do not support.
  public static let floatComponents = CGBitmapInfo(rawValue: 0x100)
  /// The bits of ``CGImageByteOrderInfo``.
  public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
  /// 16-bit units with their lowest byte first.
  public static let byteOrder16Little = CGBitmapInfo(rawValue: 0x1000)
  /// 32-bit units with their lowest byte first.
  public static let byteOrder32Little = CGBitmapInfo(rawValue: 0x2000)
  /// 16-bit units with their highest byte first.
  public static let byteOrder16Big = CGBitmapInfo(rawValue: 0x3000)
  /// 32-bit units with their highest byte first.
  public static let byteOrder32Big = CGBitmapInfo(rawValue: 0x4000)
}

/// The offsets of channels in a pixel of 8, 24 or 32 bits.
struct BitmapLayout {
  let byteCount: Int
  /// Red, green and blue; equal for a gray.
  let colors: [Int]
  let alpha: Int?
  let isPremultiplied: Bool
  var isGray: Bool { byteCount == 1 }

  /// Returns the layout of a bitmap; nil if it is not supported.
  init?(bitsPerPixel: Int, info: CGBitmapInfo) {
    guard !info.contains(.floatComponents), let kind = CGImageAlphaInfo(rawValue: info.rawValue & 0x1F) else {
      return nil
    }
    let order = info.rawValue & 0x7000
    guard order == 0 || order == 0x2000 || order == 0x4000 else { return nil }
    switch (bitsPerPixel, kind) {
    case (8, .none), (8, .alphaOnly): (byteCount, colors, alpha, isPremultiplied) = (1, [0, 0, 0], nil, false)
    case (24, .none): (byteCount, colors, alpha, isPremultiplied) = (3, [0, 1, 2], nil, false)
    case (32, .alphaOnly): return nil
    case (32, _):
      let isFirst = [.premultipliedFirst, .first, .noneSkipFirst].contains(kind)
      let hasAlpha = [.premultipliedFirst, .premultipliedLast, .first, .last].contains(kind)
      func place(_ index: Int) -> Int { order == 0x2000 ? 3 - index : index }
      byteCount = 4
      colors = (isFirst ? [1, 2, 3] : [0, 1, 2]).map(place)
      alpha = hasAlpha ? place(isFirst ? 0 : 3) : nil
      isPremultiplied = kind == .premultipliedFirst || kind == .premultipliedLast
    default: return nil
    }
  }

  /// Returns the pixel at an address, with straight alpha.
  func load(_ at: UnsafeRawPointer) -> BytePixel {
    func byte(_ offset: Int) -> UInt8 { at.load(fromByteOffset: offset, as: UInt8.self) }
    let opacity = alpha.map(byte) ?? 255
    func color(_ channel: Int) -> UInt8 {
      let value = byte(colors[channel])
      guard isPremultiplied, opacity > 0, opacity < 255 else { return value }
      return UInt8(min((Int(value) * 255 + Int(opacity) / 2) / Int(opacity), 255))
    }
    return BytePixel(red: color(0), green: color(1), blue: color(2), alpha: opacity)
  }

  /// Writes a pixel with straight alpha. A byte that is not used becomes 255.
  func store(_ pixel: BytePixel, at: UnsafeMutableRawPointer) {
    if isGray { return at.storeBytes(of: pixel.luma, as: UInt8.self) }
    if byteCount == 4 { at.storeBytes(of: UInt32.max, as: UInt32.self) }
    for (offset, value) in zip(colors, [pixel.red, pixel.green, pixel.blue]) {
      let value = isPremultiplied ? UInt8((Int(value) * Int(pixel.alpha) + 127) / 255) : value
      at.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
    if let alpha { at.storeBytes(of: pixel.alpha, toByteOffset: alpha, as: UInt8.self) }
  }
}
