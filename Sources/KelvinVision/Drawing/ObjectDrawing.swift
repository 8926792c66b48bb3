public import Kelvin
import KelvinBasics
import KelvinImages

extension PixelBuffer {
  /// The upright image with objects on it: their boxes in their classes' colours, with name and confidence.
  ///
  /// - Parameters:
  ///   - objects: as a request found them on this image.
  ///   - orientation: how its stored pixels are turned.
  ///   - labels: the classes in the order by which they get their colours, so that a class has one colour on all images.
  /// - Throws: `VisionError.image` where the image cannot be turned.
  public func drawing(
    _ objects: [RecognizedObjectObservation], orientation: ImageOrientation = .up, labels: [String] = []
  ) throws(VisionError) -> PixelBuffer {
    do throws(ImageError) {
      var canvas = Canvas(try oriented(orientation))
      var colors = LabelColors(labels)
      var tags = TagPlacement(canvas)
      // The surest on top; names last, so that no box hides one.
      let drawn = objects.filter(\.boundingBox.isFinite).sorted { $0.confidence < $1.confidence }.map { object in
        (canvas.rect(object.boundingBox), colors.color(object.labels.first?.identifier ?? ""), object)
      }
      for (rect, color, _) in drawn { canvas.outline(rect, thickness: canvas.stroke, color) }
      for (rect, color, object) in drawn.reversed() {
        let name = (object.labels.first?.identifier ?? "").drawable
        let text = "\(name) \(HumanReadable.percent(Double(object.confidence), decimals: 0))"
        let place = tags.place(canvas.tagSize(text), around: rect)
        canvas.tag(text, x: place.x, y: place.y, color)
      }
      return try canvas.image()
    } catch { throw .image(error) }
  }
}

/// A colour for each label.
struct LabelColors {
  private var places: [String: Int] = [:]

  /// - Parameter labels: in the order of their colours; others follow as they come.
  init(_ labels: [String]) { for label in labels { _ = place(label) } }

  private mutating func place(_ label: String) -> Int {
    let place = places[label] ?? places.count
    places[label] = place
    return place
  }

  mutating func color(_ label: String) -> Canvas.Color { ClassPalette.foreground(place(label)) }
}

extension Canvas {
  /// The whole pixels of a box, as far as they are near the image.
  func rect(_ box: NormalizedRect) -> PixelRect {
    let rect = box.toImageCoordinates(ImageSize(width: width, height: height), origin: .upperLeft)
    func side(_ start: Double, _ length: Double, _ side: Int) -> (Int, Int) {
      // A box may be any size; a pixel beyond the edge is enough to show that it goes on.
      let farthest = Double(side + 2)
      func clamped(_ place: Double) -> Int { place > -2 ? Int(min(place, farthest).rounded()) : -2 }
      let first = clamped(start)
      return (first, max(clamped(start + length) - first, 1))
    }
    let (x, wide) = side(rect.x, rect.width, width)
    let (y, high) = side(rect.y, rect.height, height)
    return PixelRect(x: x, y: y, width: wide, height: high)
  }
}

extension String {
  /// As it may be drawn: of a length that leaves room for the image, with nothing in it that stands for something else.
  var drawable: String {
    let text = printable
    return text.count > 40 ? text.prefix(38) + ".." : text
  }
}
