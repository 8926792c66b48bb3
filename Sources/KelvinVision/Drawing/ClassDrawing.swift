public import Kelvin
import KelvinBasics
import KelvinImages

extension PixelBuffer {
  /// Writes classes with their confidences into the upper left corner of the upright image, one below the other.
  ///
  /// - Parameters:
  ///   - classes: The classes, from the top.
  ///   - orientation: The orientation of the stored pixels.
  ///   - labels: The classes in the order in which they get their colours, so that a class has the same colour in all
  ///     images.
  /// - Throws: `VisionError.image` where the image cannot be rotated.
  public func drawing(
    _ classes: [ClassificationObservation], orientation: ImageOrientation = .up, labels: [String] = []
  ) throws(VisionError) -> PixelBuffer {
    var colors = LabelColors(labels)
    return try writing(
      classes.map { observation in
        let share = HumanReadable.percent(Double(observation.confidence), decimals: 0)
        return ("\(observation.identifier.drawable) \(share)", colors.color(observation.identifier))
      }, orientation)
  }

  /// Writes lines on coloured backgrounds into the upper left corner of the upright image.
  func writing(
    _ lines: [(text: String, color: Canvas.Color)], _ orientation: ImageOrientation
  ) throws(VisionError) -> PixelBuffer {
    do throws(ImageError) {
      var canvas = Canvas(try oriented(orientation))
      for (index, line) in lines.enumerated() {
        canvas.tag(line.text, x: 0, y: index * canvas.tagSize(line.text).height, line.color)
      }
      return try canvas.image()
    } catch { throw .image(error) }
  }
}
