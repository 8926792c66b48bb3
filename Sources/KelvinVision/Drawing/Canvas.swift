import Kelvin
import KelvinImages

/// A mutable RGB image.
struct Canvas {
  typealias Color = IndexedPNG.Color

  let width: Int
  let height: Int
  private var bytes: [UInt8]

  /// Creates a white canvas.
  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    bytes = [UInt8](repeating: 255, count: width * height * 3)
  }

  /// Creates a canvas from an image, without its alpha channel.
  init(_ image: PixelBuffer) {
    (width, height) = (image.width, image.height)
    bytes = image.inRGB.bytes
  }

  /// Calls a closure with the RGB pixels, row by row from the top left, and with the number of bytes per row.
  mutating func withBytes(_ body: (UnsafeMutableBufferPointer<UInt8>, Int) -> Void) {
    bytes.withUnsafeMutableBufferPointer { body($0, width * 3) }
  }

  /// Sets a pixel. Positions outside the canvas are ignored.
  mutating func set(_ x: Int, _ y: Int, _ color: Color) {
    guard x >= 0, x < width, y >= 0, y < height else { return }
    let at = (y * width + x) * 3
    bytes[at] = color.red
    bytes[at + 1] = color.green
    bytes[at + 2] = color.blue
  }

  mutating func fill(x: Int, y: Int, width: Int, height: Int, _ color: Color) {
    for row in max(y, 0)..<max(min(y + height, self.height), max(y, 0)) {
      for column in max(x, 0)..<max(min(x + width, self.width), max(x, 0)) { set(column, row, color) }
    }
  }

  /// Draws a string.
  ///
  /// - Parameter scale: The side of a dot in pixels.
  mutating func write(_ text: String, x: Int, y: Int, scale: Int, _ color: Color) {
    for (index, character) in text.enumerated() {
      for (row, dots) in BitmapFont.rows(character).enumerated() {
        for column in 0..<BitmapFont.width where dots >> (BitmapFont.width - 1 - column) & 1 == 1 {
          let left = x + (index * BitmapFont.advance + column) * scale
          fill(x: left, y: y + row * scale, width: scale, height: scale, color)
        }
      }
    }
  }

  func image() throws(ImageError) -> PixelBuffer {
    try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
  }
}
