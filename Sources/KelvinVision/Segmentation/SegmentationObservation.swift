public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinImages

/// Which class each pixel of a picture belongs to.
public struct SegmentationObservation: VisionObservation {
  /// A class that a picture has, and how much of the picture it is.
  public struct Part: Hashable, Sendable {
    /// The class's number, 0…254.
    public let index: Int
    /// Its name; `class 7` where the model gives none.
    public let label: String
    /// How many pixels belong to it.
    public let pixelCount: Int
    /// Their share of the picture, 0…1.
    public let share: Double
    /// The colour it is drawn in, `#RRGGBB`.
    public let color: String
  }

  /// The index in ``labelMap`` of pixels that a crop kept from the model.
  public static let unseenIndex = UInt8(ClassPalette.unseenIndex)

  /// The classes that the picture has, the largest first.
  public let parts: [Part]
  /// What a crop kept from the model, 0…1.
  public let unseenShare: Double
  /// Always 1.
  public var confidence: Float { 1 }
  /// Pixels in a row of the upright picture.
  public var width: Int { map.width }
  /// Rows of the upright picture.
  public var height: Int { map.height }
  /// The class of each pixel, row by row from the top left.
  public var labelMap: [UInt8] { map.classes }

  private let map: LabelMap
  private let classes: SegmentationClasses
  /// The largest index in the map.
  private let largest: Int

  init(_ map: LabelMap, _ classes: SegmentationClasses) {
    self.map = map
    self.classes = classes
    let counts = map.counts()
    let total = Double(max(map.classes.count, 1))
    parts = counts.indices.filter { counts[$0] > 0 && $0 != ClassPalette.unseenIndex }
      .sorted { (counts[$1], $0) < (counts[$0], $1) }
      .map { index in
        Part(
          index: index, label: classes.label(index), pixelCount: counts[index], share: Double(counts[index]) / total,
          color: classes.color(index).hexadecimal)
      }
    unseenShare = Double(counts[ClassPalette.unseenIndex]) / total
    largest = counts.lastIndex { $0 > 0 } ?? 0
  }

  /// An indexed PNG of the picture's size whose samples are the classes, in their colours.
  ///
  /// - Throws: `VisionError.image`.
  public func labelMapPNG() throws(VisionError) -> Data {
    do throws(ImageError) { return Data(try labelMapPNG(name: "label map")) } catch { throw .image(error) }
  }

  /// The picture under the classes' colours, with a legend of those it has below it.
  ///
  /// - Parameters:
  ///   - picture: the one that was segmented.
  ///   - orientation: how its stored pixels are turned.
  /// - Throws: `VisionError`: `image`; `invalidRequest` for a picture of another size.
  public func overlay(
    on picture: PixelBuffer, orientation: ImageOrientation = .up
  ) throws(VisionError) -> PixelBuffer {
    let size = ImageSize(picture, orientation)
    guard (size.width, size.height) == (width, height) else {
      throw .invalidRequest(
        "expected the picture that was segmented, \(width) x \(height), got one of \(size.width) x \(size.height)")
    }
    do throws(ImageError) {
      let legend = parts.map { part in
        SegmentationOverlay.Entry(
          color: classes.color(part.index), text: "\(part.label)  \(HumanReadable.percent(part.share))")
      }
      return try SegmentationOverlay.draw(map, over: try picture.oriented(orientation), classes, legend: legend)
    } catch { throw .image(error) }
  }

  /// - Parameter name: what errors call it.
  package func labelMapPNG(name: String) throws(ImageError) -> [UInt8] {
    try IndexedPNG.encode(
      width: width, height: height, indices: map.classes, palette: classes.palette(upTo: largest), name: name)
  }
}
