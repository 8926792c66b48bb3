import KelvinImages

/// A picture with its classes drawn over it in their colours, and below it a legend of those it has.
struct SegmentationOverlay {
  struct Entry {
    let color: IndexedPNG.Color
    let text: String
  }

  /// How much of a class's colour is mixed into the picture, of 256. Edges of a class are its colour alone.
  private static let opacity = 136

  /// - Parameters:
  ///   - picture: upright RGB of the map's size.
  ///   - legend: the classes in the order they are listed in.
  /// - Throws: `ImageError`.
  static func draw(
    _ map: LabelMap, over picture: PixelBuffer, _ classes: SegmentationClasses, legend: [Entry]
  ) throws(ImageError) -> PixelBuffer {
    let strip = LegendStrip(legend, pictureWidth: map.width)
    var canvas = Canvas(width: max(map.width, strip.width), height: map.height + strip.height)
    let colors = (0..<256).map { index -> IndexedPNG.Color? in
      index == ClassPalette.unseenIndex || classes.isSurroundings(index) ? nil : classes.color(index)
    }
    for y in 0..<map.height {
      for x in 0..<map.width {
        let pixel = y * map.width + x
        let label = map.classes[pixel]
        func isEdge(_ other: Int) -> Bool { map.classes[other] != label }
        let source = IndexedPNG.Color(
          red: picture.bytes[pixel * 3], green: picture.bytes[pixel * 3 + 1], blue: picture.bytes[pixel * 3 + 2])
        guard let color = colors[Int(label)] else {
          canvas.set(x, y, source)
          continue
        }
        let edge =
          x > 0 && isEdge(pixel - 1) || x + 1 < map.width && isEdge(pixel + 1) || y > 0 && isEdge(pixel - map.width)
          || y + 1 < map.height && isEdge(pixel + map.width)
        canvas.set(x, y, edge ? color : source.mixed(with: color, opacity))
      }
    }
    strip.draw(on: &canvas, top: map.height)
    return try canvas.picture()
  }
}

extension IndexedPNG.Color {
  /// This colour with `share` of 256 of another one.
  fileprivate func mixed(with other: IndexedPNG.Color, _ share: Int) -> IndexedPNG.Color {
    func mix(_ a: UInt8, _ b: UInt8) -> UInt8 { UInt8((Int(a) * (256 - share) + Int(b) * share + 128) >> 8) }
    return IndexedPNG.Color(
      red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
  }
}

/// Swatches and labels in columns, on white.
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
  /// The most letters of a label that are drawn.
  private static let longest = 40
  private static let ink = IndexedPNG.Color(red: 20, green: 20, blue: 20)

  init(_ all: [SegmentationOverlay.Entry], pictureWidth: Int) {
    entries = all.map { entry in
      let isLong = entry.text.count > Self.longest
      return SegmentationOverlay.Entry(
        color: entry.color, text: isLong ? entry.text.prefix(Self.longest - 2) + ".." : entry.text)
    }
    scale = 1 + pictureWidth / 500
    let letters = entries.map(\.text.count).max() ?? 0
    cell = (Self.swatch + Self.margin + letters * BitmapFont.advance + 2 * Self.margin) * scale
    columns = max(1, (pictureWidth - Self.margin * scale) / cell)
    let lines = (entries.count + columns - 1) / columns
    width = entries.isEmpty ? 0 : Self.margin * scale + min(columns, entries.count) * cell
    height = entries.isEmpty ? 0 : (2 * Self.margin + lines * Self.lineHeight) * scale
  }

  /// Down the columns, one after the other.
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
