public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinImages

/// Which class each pixel of an image belongs to.
public struct SegmentationObservation: VisionObservation {
  /// A class that an image has, and how much of the image it is.
  public struct Part: Hashable, Sendable {
    /// The class's number, 0…254.
    public let index: Int
    /// Its name; `class 7` where the model gives none.
    public let label: String
    /// How many pixels belong to it.
    public let pixelCount: Int
    /// Their share of the image, 0…1.
    public let share: Double
    /// The colour it is drawn in, `#RRGGBB`.
    public let color: String
  }

  /// The index in ``labelMap`` of pixels that a crop kept from the model, or that are of no class that was asked for.
  public static let unseenIndex = UInt8(ClassPalette.unseenIndex)

  /// The classes that the image has, the largest first.
  public let parts: [Part]
  /// What a crop kept from the model, 0…1.
  public let unseenShare: Double
  /// Always 1.
  public var confidence: Float { 1 }
  public var uuid: UUID { identity.uuid }
  /// Pixels in a row of the upright image.
  public var width: Int { map.width }
  /// Rows of the upright image.
  public var height: Int { map.height }
  /// The class of each pixel, row by row from the top left.
  public var labelMap: [UInt8] { map.classes }

  let map: LabelMap
  private let identity = ObservationIdentity()
  private let classes: SegmentationClasses
  private let classCount: Int?
  /// The classes that were asked for; nil for all.
  private let chosen: Set<Int>?

  /// - Parameter classCount: how many classes the model tells apart; nil where it does not say.
  init(_ map: LabelMap, _ classes: SegmentationClasses, classCount: Int?) {
    self.map = map
    self.classes = classes
    self.classCount = classCount
    chosen = nil
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
  }

  /// A label map from elsewhere: a data set's, or another program's.
  ///
  /// - Parameters:
  ///   - labelMap: the class of each pixel, row by row from the top left; ``unseenIndex`` for none.
  ///   - width: pixels in a row, at least 1.
  ///   - height: rows, at least 1.
  ///   - labels: the classes' names from class 0 on.
  ///   - colors: what they are drawn in, as `#RRGGBB`; an empty text stands for one that is not given.
  /// - Throws: `VisionError.invalidRequest` where the map is not of this size, and for a colour that is none.
  public init(
    labelMap: [UInt8], width: Int, height: Int, labels: [String] = [], colors: [String] = []
  ) throws(VisionError) {
    guard width > 0, height > 0, labelMap.count % width == 0, labelMap.count / width == height else {
      throw .invalidRequest("a map of \(width) x \(height) pixels is expected, got \(labelMap.count) classes")
    }
    let classes = try SegmentationClasses(labels: labels, colors: colors)
    self.init(
      LabelMap(width: width, height: height, classes: labelMap), classes,
      classCount: labels.isEmpty ? nil : labels.count)
  }

  private init(_ whole: SegmentationObservation, keeping kept: Set<Int>) {
    chosen = whole.chosen.map(kept.intersection) ?? kept
    map = whole.map.keeping(kept)
    parts = whole.parts.filter { kept.contains($0.index) }
    (classes, classCount, unseenShare) = (whole.classes, whole.classCount, whole.unseenShare)
  }

  /// The same with what is of no such class out of sight.
  func keeping(_ kept: Set<Int>) -> SegmentationObservation { SegmentationObservation(self, keeping: kept) }

  /// What belongs to classes with these labels: all else is ``unseenIndex`` in the map, has no part, and is the image
  /// itself in an overlay. Shares stay those of the whole image.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it names the one that is nearest.
  public func restricted(to labels: [String]) throws(VisionError) -> SegmentationObservation {
    keeping(try classes.indices(of: labels, count: classCount))
  }

  /// The name of a class of the map; `class 7` where the model gives none.
  public func label(of index: UInt8) -> String { classes.label(Int(index)) }

  /// The colour that a class of the map is drawn in, `#RRGGBB`.
  public func color(of index: UInt8) -> String { classes.color(Int(index)).hexadecimal }

  /// Where a label is: 255 for pixels that belong to it, 0 for all others, of the image's size.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it names the one that is nearest.
  public func mask(for label: String) throws(VisionError) -> PixelBuffer {
    try mask(of: try classes.indices(of: [label], count: classCount))
  }

  /// Where a part is, as ``mask(for:)``.
  ///
  /// - Throws: `VisionError`.
  public func mask(of part: Part) throws(VisionError) -> PixelBuffer { try mask(of: [part.index]) }

  private func mask(of indices: Set<Int>) throws(VisionError) -> PixelBuffer {
    let values = (0..<256).map { indices.contains($0) ? UInt8(255) : 0 }
    do throws(ImageError) {
      return try PixelBuffer(
        width: width, height: height, format: .gray8, bytes: map.classes.map { values[Int($0)] })
    } catch { throw .image(error) }
  }

  /// An indexed PNG of the image's size whose samples are the classes, in their colours.
  ///
  /// - Throws: `VisionError.image`.
  public func labelMapPNG() throws(VisionError) -> Data {
    do throws(ImageError) { return Data(try labelMapPNG(name: "label map")) } catch { throw .image(error) }
  }

  /// The image under the classes' colours, with a legend of those it has below it.
  ///
  /// - Parameters:
  ///   - image: the one that was segmented.
  ///   - orientation: how its stored pixels are turned.
  /// - Throws: `VisionError`: `image`; `invalidRequest` for an image of another size.
  public func overlay(
    on image: PixelBuffer, orientation: ImageOrientation = .up
  ) throws(VisionError) -> PixelBuffer {
    let size = ImageSize(image, orientation)
    guard (size.width, size.height) == (width, height) else {
      throw .invalidRequest(
        "expected the image that was segmented, \(width) x \(height), got one of \(size.width) x \(size.height)")
    }
    do throws(ImageError) {
      let legend = parts.map { part in
        SegmentationOverlay.Entry(
          color: classes.color(part.index), text: "\(part.label)  \(HumanReadable.percent(part.share))")
      }
      return try SegmentationOverlay.draw(
        map, over: try image.oriented(orientation), colors: (0..<256).map(overlayColor), legend: legend)
    } catch { throw .image(error) }
  }

  /// ``overlay(on:orientation:)`` as a PNG file's bytes.
  ///
  /// - Parameters:
  ///   - image: the one that was segmented.
  ///   - orientation: how its stored pixels are turned.
  ///   - level: how hard it is compressed, 0…9. Above 3 little is gained for much time.
  /// - Throws: `VisionError` as the overlay does.
  public func overlayPNG(
    on image: PixelBuffer, orientation: ImageOrientation = .up, level: Int = 3
  ) throws(VisionError) -> Data {
    let overlay = try overlay(on: image, orientation: orientation)
    do throws(ImageError) {
      return Data(try ImageFile.encode(overlay, as: .png, level: level, name: "overlay"))
    } catch { throw .image(error) }
  }

  /// Nil for what is shown as the image itself: what is unseen and, unless it was asked for, what is around things.
  private func overlayColor(_ index: Int) -> IndexedPNG.Color? {
    let isShown = chosen?.contains(index) ?? !classes.isSurroundings(index)
    return isShown && index != ClassPalette.unseenIndex ? classes.color(index) : nil
  }

  /// - Parameter name: what errors call it.
  package func labelMapPNG(name: String) throws(ImageError) -> [UInt8] {
    let largest = Int(map.classes.max() ?? 0)
    return try IndexedPNG.encode(
      width: width, height: height, indices: map.classes, palette: classes.palette(upTo: largest), name: name)
  }
}
