import Glibc
import KelvinImages

extension PixelRect {
  /// Returns the number of pixels in the intersection.
  func area(sharedWith other: PixelRect) -> Int {
    let wide = min(x + width, other.x + other.width) - max(x, other.x)
    let high = min(y + height, other.y + other.height) - max(y, other.y)
    return max(wide, 0) * max(high, 0)
  }
}

extension Canvas {
  /// The thickness of lines and the size of a character's dots in pixels, proportional to the canvas.
  var stroke: Int { 1 + max(width, height) / 400 }
  var letterScale: Int { 1 + max(width, height) / 800 }

  /// Draws the sides of a rectangle inwards, between contrasting lines.
  mutating func outline(_ rect: PixelRect, thickness: Int, _ color: Color) {
    ring(PixelRect(x: rect.x - 1, y: rect.y - 1, width: rect.width + 2, height: rect.height + 2), 1, color.ink)
    ring(rect, thickness, color)
    let inset = min(thickness, rect.width / 2, rect.height / 2)
    ring(
      PixelRect(
        x: rect.x + inset, y: rect.y + inset, width: rect.width - 2 * inset, height: rect.height - 2 * inset), 1,
      color.ink)
  }

  private mutating func ring(_ rect: PixelRect, _ thickness: Int, _ color: Color) {
    guard rect.width > 0, rect.height > 0 else { return }
    let (across, down) = (min(thickness, rect.width), min(thickness, rect.height))
    fill(x: rect.x, y: rect.y, width: rect.width, height: down, color)
    fill(x: rect.x, y: rect.y + rect.height - down, width: rect.width, height: down, color)
    fill(x: rect.x, y: rect.y, width: across, height: rect.height, color)
    fill(x: rect.x + rect.width - across, y: rect.y, width: across, height: rect.height, color)
  }

  /// Draws a line with round ends.
  mutating func line(from a: (x: Double, y: Double), to b: (x: Double, y: Double), thickness: Double, _ color: Color) {
    let radius = thickness / 2
    let (dx, dy) = (b.x - a.x, b.y - a.y)
    let length = dx * dx + dy * dy
    for y in span(min(a.y, b.y) - radius, max(a.y, b.y) + radius, height) {
      // The range of x in which the line can reach this row.
      let reach = [Double(y) - radius - a.y, Double(y) + 1 + radius - a.y]
      let ends = (dy == 0 ? [0, 1] : reach.map { min(max($0 / dy, 0), 1) }).map { a.x + $0 * dx }
      for x in span(min(ends[0], ends[1]) - radius, max(ends[0], ends[1]) + radius, width) {
        let (px, py) = (Double(x) + 0.5 - a.x, Double(y) + 0.5 - a.y)
        let along = length > 0 ? min(max((px * dx + py * dy) / length, 0), 1) : 0
        let (offX, offY) = (px - along * dx, py - along * dy)
        if offX * offX + offY * offY <= radius * radius { set(x, y, color) }
      }
    }
  }

  mutating func disc(at center: (x: Double, y: Double), radius: Double, _ color: Color) {
    line(from: center, to: center, thickness: 2 * radius, color)
  }

  /// Returns the range of pixels between two positions, clamped to the canvas.
  private func span(_ start: Double, _ end: Double, _ side: Int) -> Range<Int> {
    func bound(_ place: Double) -> Int { place > 0 ? Int(min(place, Double(side))) : 0 }
    let first = bound(start.rounded(.down))
    return first..<max(bound(end.rounded(.up)), first)
  }

  /// Returns the pixel nearest to a position, clamped to the canvas.
  func nearest(_ place: Double, _ side: Int) -> Int { place > 0 ? Int(min(place, Double(side - 1)).rounded()) : 0 }

  /// Returns the size of a label with its background.
  func tagSize(_ text: String) -> (width: Int, height: Int) {
    let scale = letterScale
    return ((text.count * BitmapFont.advance + 3) * scale, (BitmapFont.height + 4) * scale)
  }

  /// Draws a label on a coloured background.
  mutating func tag(_ text: String, x: Int, y: Int, _ color: Color) {
    let (scale, size) = (letterScale, tagSize(text))
    fill(x: x, y: y, width: size.width, height: size.height, color)
    write(text, x: x + 2 * scale, y: y + 2 * scale, scale: scale, color.ink)
  }
}

extension Canvas.Color {
  /// Black or white, depending on the contrast with this colour (relative luminance of WCAG 2).
  var ink: Canvas.Color {
    func linear(_ channel: UInt8) -> Double {
      let share = Double(channel) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    let level: UInt8 = (luminance + 0.05) * (luminance + 0.05) > 1.05 * 0.05 ? 0 : 255
    return Canvas.Color(red: level, green: level, blue: level)
  }
}
