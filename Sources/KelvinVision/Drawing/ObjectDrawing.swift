public import Kelvin
import KelvinBasics
import KelvinImages

extension PixelBuffer {
  /// Draws objects on the upright image: boxes in their classes' colours, with labels and confidences.
  ///
  /// - Parameters:
  ///   - objects: The objects that a request found in this image.
  ///   - orientation: The orientation of the stored pixels.
  ///   - labels: The classes in the order in which they get their colours, so that a class has the same colour in all
  ///     images.
  ///   - tracks: The numbers of the objects' tracks, in the order of the objects; empty without tracks. An object with
  ///     a number has it in its label, and the colour of its track.
  /// - Throws: `VisionError.image` where the image cannot be rotated.
  public func drawing(
    _ objects: [RecognizedObjectObservation], orientation: ImageOrientation = .up, labels: [String] = [],
    tracks: [Int?] = []
  ) throws(VisionError) -> PixelBuffer {
    do throws(ImageError) {
      var canvas = Canvas(try oriented(orientation))
      var colors = LabelColors(labels)
      var tags = TagPlacement(canvas)
      // Boxes are drawn in ascending order of confidence, and labels last, so that no box covers a label.
      let shown = objects.indices.filter { objects[$0].boundingBox.isFinite }
      let drawn = shown.sorted { objects[$0].confidence < objects[$1].confidence }.map { index in
        let object = objects[index]
        let track = index < tracks.count ? tracks[index] : nil
        let color =
          track.map(ClassPalette.foreground) ?? colors.color(object.labels.first?.identifier ?? "")
        return (rect: canvas.rect(object.boundingBox), color: color, object: object, track: track)
      }
      for (rect, color, _, _) in drawn { canvas.outline(rect, thickness: canvas.stroke, color) }
      for (rect, color, object, track) in drawn.reversed() {
        let name = (object.labels.first?.identifier ?? "").drawable + (track.map { " \($0)" } ?? "")
        let text = "\(name) \(HumanReadable.percent(Double(object.confidence), decimals: 0))"
        let place = tags.place(canvas.tagSize(text), around: rect)
        canvas.tag(text, x: place.x, y: place.y, color)
      }
      return try canvas.image()
    } catch { throw .image(error) }
  }
}

/// An assignment of colours to labels.
struct LabelColors {
  private var places: [ExactString: Int] = [:]

  /// - Parameter labels: The labels in the order of their colours. Further labels get the next colours when they are
  ///   first used.
  init(_ labels: [String]) { for label in labels { _ = place(label) } }

  private mutating func place(_ label: String) -> Int {
    let place = places[ExactString(label)] ?? places.count
    places[ExactString(label)] = place
    return place
  }

  mutating func color(_ label: String) -> Canvas.Color { ClassPalette.foreground(place(label)) }
}

extension Canvas {
  /// Returns the pixels of a box, clamped to the canvas and a margin of two pixels.
  func rect(_ box: NormalizedRect) -> PixelRect {
    let rect = box.toImageCoordinates(ImageSize(width: width, height: height), origin: .upperLeft)
    func side(_ start: Double, _ length: Double, _ side: Int) -> (Int, Int) {
      // A box may be arbitrarily large. Its sides are clamped to just beyond the edge.
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
  /// The string for drawing: printable, and at most 40 characters long.
  var drawable: String {
    let text = printable
    return text.count > 40 ? text.prefix(38) + ".." : text
  }
}
