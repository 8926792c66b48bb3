import CKelvinImages

/// Random access to the pixels of an image in any format, as 8-bit red, green and blue.
struct PixelReader {
  private let view: PixelView
  /// The access to an image of luma and chroma; nil for other formats.
  let chroma: ChromaReader?
  /// The bits of a column in the offsets of ``rgb(at:)``.
  private let columnBits: Int

  init(_ view: PixelView) {
    self.view = view
    columnBits = Int.bitWidth - view.width.leadingZeroBitCount
    chroma = ChromaReader(view, columnBits: columnBits)
  }

  /// The distance to the next pixel in a row and in a column, in the offsets of ``rgb(at:)``. The distance of rows is a
  /// power of two, so that column and row are separated without a division.
  var steps: (pixel: Int, row: Int) { (1, 1 << columnBits) }

  /// Returns the stored pixel at an offset from the first.
  @inline(__always)
  func rgb(at offset: Int) -> (red: Int, green: Int, blue: Int) {
    rgb(offset & (1 &<< columnBits &- 1), offset &>> columnBits)
  }

  /// Returns the pixel in a stored column and row.
  @inline(__always)
  func rgb(_ x: Int, _ y: Int) -> (red: Int, green: Int, blue: Int) {
    let row = UnsafeRawPointer(view.base) + y &* view.bytesPerRow
    func half(_ channel: Int) -> Int {
      Self.byte(Self.float(half: row.loadUnaligned(fromByteOffset: 2 &* channel, as: UInt16.self)))
    }
    func float(_ channel: Int) -> Int { Self.byte(row.loadUnaligned(fromByteOffset: 4 &* channel, as: Float.self)) }
    switch view.format {
    case .rgb8, .rgba8, .bgra8, .argb8, .gray8:
      let pixel = row + x &* view.format.bytesPerPixel
      let offsets = view.format.colorOffsets
      func byte(_ offset: Int) -> Int { Int(pixel.load(fromByteOffset: offset, as: UInt8.self)) }
      return (byte(offsets.red), byte(offsets.green), byte(offsets.blue))
    case .gray16Half:
      let level = half(x)
      return (level, level, level)
    case .gray32Float:
      let level = float(x)
      return (level, level, level)
    case .rgba16Half: return (half(4 &* x), half(4 &* x &+ 1), half(4 &* x &+ 2))
    case .rgba32Float: return (float(4 &* x), float(4 &* x &+ 1), float(4 &* x &+ 2))
    case .yCbCr601Full, .yCbCr601Video, .yCbCr709Full, .yCbCr709Video:
      return chroma?.rgb(x, y) ?? (0, 0, 0)
    }
  }

  /// Returns the alpha of the pixel in a stored column and row; 255 for a format without alpha.
  @inline(__always)
  func alpha(_ x: Int, _ y: Int) -> Int {
    let row = UnsafeRawPointer(view.base) + y &* view.bytesPerRow
    switch view.format {
    case .rgba16Half:
      return Self.byte(Self.float(half: row.loadUnaligned(fromByteOffset: 8 &* x &+ 6, as: UInt16.self)))
    case .rgba32Float: return Self.byte(row.loadUnaligned(fromByteOffset: 16 &* x &+ 12, as: Float.self))
    default:
      guard let offset = view.format.alphaOffset else { return 255 }
      return Int(row.load(fromByteOffset: x &* view.format.bytesPerPixel &+ offset, as: UInt8.self))
    }
  }

  /// Converts 0…1 to 0…255, rounded half up; NaN becomes 0.
  @inline(__always)
  private static func byte(_ value: Float) -> Int { value > 0 ? Int(min(value, 1) * 255 + 0.5) : 0 }

  /// Converts the bits of an IEEE 754 binary16 number.
  @inline(__always)
  fileprivate static func float(half bits: UInt16) -> Float {
    let (exponent, fraction) = (UInt32(bits >> 10 & 31), UInt32(bits & 1023))
    let size: Float =
      switch exponent {
      case 0: Float(fraction) * 0x1p-24
      case 31: fraction == 0 ? .infinity : .nan
      default: Float(bitPattern: (exponent + 112) << 23 | fraction << 13)
      }
    return bits >> 15 == 0 ? size : -size
  }
}

/// Access to the pixels of an image of luma and chroma.
struct ChromaReader {
  let luma: UnsafePointer<UInt8>
  let chroma: UnsafePointer<UInt8>
  let matrix: kelvin_chroma_matrix
  private let lumaRow: Int
  private let chromaRow: Int
  private let columnBits: Int

  /// Creates the access; nil for a format without chroma.
  init?(_ view: PixelView, columnBits: Int) {
    guard let plane = view.chroma, let matrix = kelvin_chroma_matrix(view.format) else { return nil }
    (luma, lumaRow) = (view.base, view.bytesPerRow)
    (chroma, chromaRow) = (plane.base.assumingMemoryBound(to: UInt8.self), plane.bytesPerRow)
    (self.matrix, self.columnBits) = (matrix, columnBits)
  }

  /// Returns the offsets of a pixel in the two planes. Each is a sum of a term of the column and a term of the row.
  ///
  /// - Parameter offset: an offset of ``PixelReader/rgb(at:)``.
  func place(of offset: Int) -> (luma: Int, chroma: Int) {
    place(offset & (1 << columnBits - 1), offset >> columnBits)
  }

  @inline(__always)
  private func place(_ x: Int, _ y: Int) -> (luma: Int, chroma: Int) {
    (y &* lumaRow &+ x, (y &>> 1) &* chromaRow &+ (x & ~1))
  }

  @inline(__always)
  func rgb(_ x: Int, _ y: Int) -> (red: Int, green: Int, blue: Int) {
    let place = place(x, y)
    return matrix.rgb(
      luma: Int(luma[place.luma]), blue: Int(chroma[place.chroma]), red: Int(chroma[place.chroma &+ 1]))
  }
}

extension PixelView {
  /// The stored numbers of a floating-point grey image, row by row; nil for other formats.
  package var grayNumbers: [Float]? {
    guard [.gray16Half, .gray32Float].contains(format) else { return nil }
    var numbers: [Float] = []
    numbers.reserveCapacity(width * height)
    for y in 0..<height {
      let row = UnsafeRawPointer(base) + y * bytesPerRow
      for x in 0..<width {
        numbers.append(
          format == .gray16Half
            ? PixelReader.float(half: row.loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self))
            : row.loadUnaligned(fromByteOffset: 4 * x, as: Float.self))
      }
    }
    return numbers
  }
}

/// The inverse of the equations of Rec. ITU-R BT.601-7 (2.5) and BT.709-6 (3). The factors are rounded to 1/8192, which
/// changes a sample by less than 1/20.
extension kelvin_chroma_matrix {
  /// Creates the conversion; nil for a format without chroma.
  fileprivate init?(_ format: PixelFormat) {
    let (red, blue, isVideo): (Double, Double, Bool)
    switch format {
    case .yCbCr601Full: (red, blue, isVideo) = (0.299, 0.114, false)
    case .yCbCr601Video: (red, blue, isVideo) = (0.299, 0.114, true)
    case .yCbCr709Full: (red, blue, isVideo) = (0.2126, 0.0722, false)
    case .yCbCr709Video: (red, blue, isVideo) = (0.2126, 0.0722, true)
    default: return nil
    }
    func scaled(_ factor: Double) -> Int16 { Int16((factor * 8192).rounded()) }
    let chroma = isVideo ? 255.0 / 224 : 1
    let green = 1 - red - blue
    self.init()
    luma = scaled(isVideo ? 255.0 / 219 : 1)
    red_of_red = scaled(2 * (1 - red) * chroma)
    green_of_red = scaled(2 * (1 - red) * red / green * chroma)
    green_of_blue = scaled(2 * (1 - blue) * blue / green * chroma)
    blue_of_blue = scaled(2 * (1 - blue) * chroma)
    let black = 4096 - (isVideo ? 16 : 0) * Int32(luma)
    self.red = black - 128 * Int32(red_of_red)
    self.green = black + 128 * (Int32(green_of_red) + Int32(green_of_blue))
    self.blue = black - 128 * Int32(blue_of_blue)
  }

  @inline(__always)
  fileprivate func rgb(luma level: Int, blue cb: Int, red cr: Int) -> (red: Int, green: Int, blue: Int) {
    let level = level &* Int(luma)
    func byte(_ value: Int) -> Int { min(max(value >> 13, 0), 255) }
    return (
      byte(Int(red) &+ level &+ Int(red_of_red) &* cr),
      byte(Int(green) &+ level &- Int(green_of_red) &* cr &- Int(green_of_blue) &* cb),
      byte(Int(blue) &+ level &+ Int(blue_of_blue) &* cb)
    )
  }
}

extension PixelBuffer {
  /// The image in a byte format: unchanged where it already is, else ``PixelFormat/gray8`` for grey and
  /// ``PixelFormat/rgb8`` for colour images.
  package var inBytes: PixelBuffer { format.isBytes ? self : read(as: format.isGray ? .gray8 : .rgb8) }

  /// The image as ``PixelFormat/rgb8``, without alpha.
  package var inRGB: PixelBuffer { format == .rgb8 ? self : read(as: .rgb8) }

  /// Returns the image in a format with one byte per channel. Grey is the luma of Rec. 601. Alpha is kept if both
  /// formats have it, and opaque otherwise; colours are not composed on anything.
  ///
  /// - Parameter target: ``PixelFormat/rgb8``, ``PixelFormat/rgba8``, ``PixelFormat/bgra8``, ``PixelFormat/argb8`` or
  ///   ``PixelFormat/gray8``.
  /// - Throws: ``ImageError`` (`invalidArgument`) for another format.
  public func converted(to target: PixelFormat) throws(ImageError) -> PixelBuffer {
    guard target.isBytes else {
      throw ImageError(
        .invalidArgument, "pixels", "images are not converted to \(target)",
        remedy: "expected a format with one byte per channel")
    }
    return format == target ? self : read(as: target)
  }

  /// - Parameter target: a format with one byte per channel.
  private func read(as target: PixelFormat) -> PixelBuffer {
    let (size, offsets, alpha) = (target.channelCount, target.colorOffsets, target.alphaOffset)
    let count = width * height * size
    let bytes = withPixels { view in
      let reader = PixelReader(view)
      return [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
        var at = 0
        for y in 0..<height {
          for x in 0..<width {
            let pixel = reader.rgb(x, y)
            if size == 1 {
              bytes[at] = UInt8(truncatingIfNeeded: luma(pixel.red, pixel.green, pixel.blue))
            } else {
              bytes[at + offsets.red] = UInt8(truncatingIfNeeded: pixel.red)
              bytes[at + offsets.green] = UInt8(truncatingIfNeeded: pixel.green)
              bytes[at + offsets.blue] = UInt8(truncatingIfNeeded: pixel.blue)
              if let alpha { bytes[at + alpha] = UInt8(truncatingIfNeeded: reader.alpha(x, y)) }
            }
            at += size
          }
        }
        initialized = count
      }
    }
    return PixelBuffer(trusted: bytes, width: width, height: height, format: target)
  }
}
