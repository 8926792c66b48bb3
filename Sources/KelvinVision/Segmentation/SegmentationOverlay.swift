import KelvinImages

/// An image tinted in the colours of its classes, with a legend below it.
struct SegmentationOverlay {
  struct Entry {
    let color: IndexedPNG.Color
    let text: String
  }

  /// The share of a class's colour in a tinted pixel, in 1/256. Pixels at a class's edge take the pure colour.
  private static let opacity = 136

  /// Draws the overlay.
  ///
  /// - Parameters:
  ///   - image: The upright image, of the map's size.
  ///   - colors: The tint for each of the 256 class indices; nil for no tint.
  ///   - legend: The classes in the order of the legend.
  /// - Throws: `ImageError`.
  static func draw(
    _ map: LabelMap, over image: PixelBuffer, colors: [IndexedPNG.Color?], legend: [Entry]
  ) throws(ImageError) -> PixelBuffer {
    let strip = LegendStrip(legend, imageWidth: map.width)
    var canvas = Canvas(width: max(map.width, strip.width), height: map.height + strip.height)
    canvas.withBytes { bytes, bytesPerRow in
      tint(map, image, colors, bytes, bytesPerRow)
    }
    strip.draw(on: &canvas, top: map.height)
    return try canvas.image()
  }

  /// Writes the image's pixels, tinted in their classes' colours.
  private static func tint(
    _ map: LabelMap, _ image: PixelBuffer, _ colors: [IndexedPNG.Color?],
    _ target: UnsafeMutableBufferPointer<UInt8>, _ bytesPerRow: Int
  ) {
    func mix(_ own: UInt8, _ tint: UInt8, _ share: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: (Int(own) &* (256 &- share) &+ Int(tint) &* share &+ 128) &>> 8)
    }
    let (width, height) = (map.width, map.height)
    colors.withUnsafeBufferPointer { colors in
      map.classes.withUnsafeBufferPointer { classes in
        image.inRGB.bytes.withUnsafeBufferPointer { source in
          for y in 0..<height {
            for x in 0..<width {
              let pixel = y &* width &+ x
              let (from, to) = (pixel &* 3, y &* bytesPerRow &+ x &* 3)
              let label = classes[pixel]
              guard let color = colors[Int(label)] else {
                for channel in 0..<3 { target[to &+ channel] = source[from &+ channel] }
                continue
              }
              let isEdge =
                x > 0 && classes[pixel &- 1] != label || x &+ 1 < width && classes[pixel &+ 1] != label
                || y > 0 && classes[pixel &- width] != label || y &+ 1 < height && classes[pixel &+ width] != label
              let share = isEdge ? 256 : opacity
              target[to] = mix(source[from], color.red, share)
              target[to &+ 1] = mix(source[from &+ 1], color.green, share)
              target[to &+ 2] = mix(source[from &+ 2], color.blue, share)
            }
          }
        }
      }
    }
  }
}

/// A legend: colour swatches and labels in columns, on white.
private struct LegendStrip {
  private let entries: [SegmentationOverlay.Entry]
  private let columns: Int
  private let cell: Int
  private let scale: Int
  let width: Int
  let height: Int

  private static let swatch = 9
  private static let lineHeight = 13
  private static let margin = 5
  /// The largest number of characters of a label that are drawn.
  private static let longest = 40
  private static let ink = IndexedPNG.Color(red: 20, green: 20, blue: 20)

  init(_ all: [SegmentationOverlay.Entry], imageWidth: Int) {
    entries = all.map { entry in
      let isLong = entry.text.count > Self.longest
      return SegmentationOverlay.Entry(
        color: entry.color, text: isLong ? entry.text.prefix(Self.longest - 2) + ".." : entry.text)
    }
    scale = 1 + imageWidth / 500
    let letters = entries.map(\.text.count).max() ?? 0
    cell = (Self.swatch + Self.margin + letters * BitmapFont.advance + 2 * Self.margin) * scale
    columns = max(1, (imageWidth - Self.margin * scale) / cell)
    let lines = (entries.count + columns - 1) / columns
    width = entries.isEmpty ? 0 : Self.margin * scale + min(columns, entries.count) * cell
    height = entries.isEmpty ? 0 : (2 * Self.margin + lines * Self.lineHeight) * scale
  }

  /// Draws the entries in column-major order.
  func draw(on canvas: inout Canvas, top: Int) {
    let lines = (entries.count + columns - 1) / columns
    for (index, entry) in entries.enumerated() {
      let x = Self.margin * scale + index / lines * cell
      let y = top + (Self.margin + index % lines * Self.lineHeight + 1) * scale
      let side = Self.swatch * scale
      canvas.fill(x: x, y: y, width: side, height: side, Self.ink)
      canvas.fill(x: x + scale, y: y + scale, width: side - 2 * scale, height: side - 2 * scale, entry.color)
      canvas.write(entry.text, x: x + side + Self.margin * scale, y: y + scale, scale: scale, Self.ink)
    }
  }
}
