import Kelvin

/// The header of a YUV4MPEG2 stream: `YUV4MPEG2 W1920 H1080 F30:1 Ip A1:1 C420jpeg`.
package struct Y4MHeader: Hashable, Sendable {
  /// The planes of a frame.
  enum Chroma: Hashable, Sendable {
    /// The number of columns and of rows of luma for one value of chroma.
    case subsampled(columns: Int, rows: Int)
    case none

    /// The size of a plane of chroma; nil without chroma.
    func size(_ width: Int, _ height: Int) -> (width: Int, height: Int)? {
      guard case .subsampled(let columns, let rows) = self else { return nil }
      return ((width + columns - 1) / columns, (height + rows - 1) / rows)
    }
  }

  static let magic = "YUV4MPEG2"

  let width: Int
  let height: Int
  let chroma: Chroma
  /// Whether a plane of alpha follows those of colour.
  let hasAlpha: Bool
  let isFullRange: Bool
  let isInterlaced: Bool
  /// The duration of a frame; nil where the rate is unknown.
  let frameTime: TimeBase?

  /// The format of the frames. The header does not name a matrix; Rec. 601 is what ffmpeg takes for it.
  var format: PixelFormat { isFullRange ? .yCbCr601Full : .yCbCr601Video }

  /// Parses the first line.
  ///
  /// - Parameters:
  ///   - line: The line without its end.
  ///   - name: The name of the stream in errors.
  ///   - maximumPixels: The largest width times height.
  /// - Throws: ``VideoError`` (`unreadable`) with the position of the fault.
  init(_ line: some Collection<UInt8>, name: String, maximumPixels: Int) throws(VideoError) {
    let words = line.split(separator: 0x20)
    guard let first = words.first, first.elementsEqual(Self.magic.utf8) else {
      throw VideoError(.unreadable, "'\(name)', byte 0: expected '\(Self.magic)', the start of a YUV4MPEG2 header")
    }
    var (width, height): (Int?, Int?)
    var (frameTime, isFullRange, isInterlaced): (TimeBase?, Bool, Bool) = (nil, false, false)
    var colour = (chroma: Chroma.subsampled(columns: 2, rows: 2), hasAlpha: false)
    for word in words.dropFirst() {
      let offset = line.distance(from: line.startIndex, to: word.startIndex)
      let value = String(decoding: word.dropFirst(), as: UTF8.self)
      func fault(_ expected: String) -> VideoError {
        VideoError(
          .unreadable,
          "'\(name)', byte \(offset): '\(String(decoding: word, as: UTF8.self))' in the YUV4MPEG2 header; "
            + "expected \(expected)")
      }
      switch word.first {
      case UInt8(ascii: "W"), UInt8(ascii: "H"):
        guard let side = Int(value), (1...maximumPixels).contains(side) else {
          throw fault("a side of 1 to \(maximumPixels) pixels")
        }
        if word.first == UInt8(ascii: "W") { width = side } else { height = side }
      case UInt8(ascii: "F"):
        let parts = value.split(separator: ":").map { Int($0) }
        guard parts.count == 2, let over = parts[0], let under = parts[1], (0...Int(Int32.max)).contains(over),
          (0...Int(Int32.max)).contains(under)
        else { throw fault("a rate such as F30:1") }
        frameTime = TimeBase(under, over)
      case UInt8(ascii: "I"): isInterlaced = !["p", "?"].contains(value)
      case UInt8(ascii: "C"):
        guard let known = Self.colour(value) else {
          throw fault("one of C420, C420jpeg, C420mpeg2, C420paldv, C422, C444, C444alpha, C411, Cmono with 8 bits")
        }
        colour = known
      case UInt8(ascii: "X"): if value == "COLORRANGE=FULL" { isFullRange = true }
      default: break
      }
    }
    guard let width, let height, width <= maximumPixels / height else {
      throw VideoError(
        .unreadable,
        "'\(name)', byte 0: the YUV4MPEG2 header has the size \(width ?? 0) x \(height ?? 0); "
          + "expected W and H, and at most \(maximumPixels) pixels")
    }
    (self.width, self.height, self.frameTime) = (width, height, frameTime)
    (self.isFullRange, self.isInterlaced) = (isFullRange, isInterlaced)
    (chroma, hasAlpha) = colour
  }

  private static func colour(_ name: String) -> (Chroma, Bool)? {
    switch name {
    case "420", "420jpeg", "420mpeg2", "420paldv": (.subsampled(columns: 2, rows: 2), false)
    case "422": (.subsampled(columns: 2, rows: 1), false)
    case "444": (.subsampled(columns: 1, rows: 1), false)
    case "444alpha": (.subsampled(columns: 1, rows: 1), true)
    case "411": (.subsampled(columns: 4, rows: 1), false)
    case "mono": (.none, false)
    default: nil
    }
  }
}
