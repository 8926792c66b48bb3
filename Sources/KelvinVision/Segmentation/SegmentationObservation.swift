public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinImages

/// The class of each pixel of an image.
public struct SegmentationObservation: VisionObservation {
  /// A class that occurs in an image, with its area.
  public struct Part: Hashable, Sendable, Codable {
    /// The index of the class, 0…254.
    public let index: Int
    /// The name of the class; `class 7` where the model has no name for it.
    public let label: String
    /// The number of pixels of the class.
    public let pixelCount: Int
    /// The share of the image's pixels, 0…1.
    public let share: Double
    /// The colour in drawings, `#RRGGBB`.
    public let color: String
  }

  /// The index in ``labelMap`` of pixels that the model did not see because of a crop, or that belong to none of the
  /// requested classes.
  public static let unseenIndex = UInt8(ClassPalette.unseenIndex)

  /// The classes that occur in the image, the largest first.
  public let parts: [Part]
  /// The share of the image that the model did not see because of a crop, 0…1.
  public let unseenShare: Double
  /// The confidence; always 1.
  public var confidence: Float { 1 }
  public var uuid: UUID { identity.uuid }
  /// The width of the upright image in pixels.
  public var width: Int { map.width }
  /// The height of the upright image in pixels.
  public var height: Int { map.height }
  /// The class of each pixel, row by row from the top left.
  public var labelMap: [UInt8] { map.classes }

  let map: LabelMap
  let identity: ObservationIdentity
  let classes: SegmentationClasses
  let classCount: Int?
  /// The requested classes; nil for all.
  let chosen: Set<Int>?

  /// - Parameter classCount: The number of the model's classes; nil where it is unknown.
  init(
    _ map: LabelMap, _ classes: SegmentationClasses, classCount: Int?, chosen: Set<Int>? = nil,
    identity: ObservationIdentity = ObservationIdentity()
  ) {
    self.map = map
    self.classes = classes
    self.classCount = classCount
    self.chosen = chosen
    self.identity = identity
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

  /// Creates an observation from an existing label map, such as a data set's.
  ///
  /// - Parameters:
  ///   - labelMap: The class of each pixel, row by row from the top left; ``unseenIndex`` for none.
  ///   - width: The number of columns, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - labels: The names of the classes from class 0 on.
  ///   - colors: The colours of the classes as `#RRGGBB`. An empty string selects the default colour.
  /// - Throws: `VisionError.invalidRequest` where the map does not have this size, and for an invalid colour.
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
    identity = ObservationIdentity()
  }

  /// Returns the observation with all other classes replaced by ``unseenIndex``.
  func keeping(_ kept: Set<Int>) -> SegmentationObservation { SegmentationObservation(self, keeping: kept) }

  /// Returns the observation restricted to the classes with these labels. All other pixels are ``unseenIndex`` in the
  /// map, have no part, and are not tinted in an overlay. Shares still refer to the whole image.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it suggests the most similar label.
  public func restricted(to labels: [String]) throws(VisionError) -> SegmentationObservation {
    keeping(try classes.indices(of: labels, count: classCount))
  }

  /// Returns the name of a class of the map; `class 7` where the model has no name for it.
  public func label(of index: UInt8) -> String { classes.label(Int(index)) }

  /// Returns the colour of a class of the map in drawings, `#RRGGBB`.
  public func color(of index: UInt8) -> String { classes.color(Int(index)).hexadecimal }

  /// Returns the mask of a label: 255 for pixels that belong to it, 0 for all others, in the image's size.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it suggests the most similar label.
  public func mask(for label: String) throws(VisionError) -> PixelBuffer {
    try mask(of: try classes.indices(of: [label], count: classCount))
  }

  /// Returns the mask of a part, in the format of ``mask(for:)``.
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

  /// Encodes an indexed PNG of the image's size. Its samples are the classes, its palette their colours.
  ///
  /// - Throws: `VisionError.image`.
  public func labelMapPNG() throws(VisionError) -> Data {
    do throws(ImageError) { return Data(try labelMapPNG(name: "label map")) } catch { throw .image(error) }
  }

  /// Draws the classes' colours over the image, with a legend of the classes below it.
  ///
  /// - Parameters:
  ///   - image: The image that was segmented.
  ///   - orientation: The orientation of the stored pixels.
  /// - Throws: `VisionError`: `image`; `invalidRequest` for an image of another size.
  public func overlay(
    on image: PixelBuffer, orientation: ImageOrientation = .up
  ) throws(VisionError) -> PixelBuffer {
    let legend = parts.map { part in
      SegmentationOverlay.Entry(
        color: classes.color(part.index), text: "\(part.label)  \(HumanReadable.percent(part.share))")
    }
    return try tinted(image, orientation, legend: legend)
  }

  private func tinted(
    _ image: PixelBuffer, _ orientation: ImageOrientation, legend: [SegmentationOverlay.Entry]
  ) throws(VisionError) -> PixelBuffer {
    let size = ImageSize(image, orientation)
    guard (size.width, size.height) == (width, height) else {
      throw .invalidRequest(
        "expected the image that was segmented, \(width) x \(height), got one of \(size.width) x \(size.height)")
    }
    do throws(ImageError) {
      return try SegmentationOverlay.draw(
        map, over: try image.oriented(orientation), colors: (0..<256).map(overlayColor), legend: legend)
    } catch { throw .image(error) }
  }

  /// Draws the classes' colours over the image, and the names of the largest classes into its upper left corner. The
  /// result has the size of the upright image.
  ///
  /// - Parameters:
  ///   - image: The image that was segmented.
  ///   - orientation: The orientation of the stored pixels.
  ///   - nameCount: The number of classes that are named.
  /// - Throws: `VisionError` as ``overlay(on:orientation:)`` does.
  public func drawing(
    on image: PixelBuffer, orientation: ImageOrientation = .up, nameCount: Int = 5
  ) throws(VisionError) -> PixelBuffer {
    let names = parts.prefix(Swift.max(nameCount, 0)).map { part in
      (
        text: "\(part.label.drawable) \(HumanReadable.percent(part.share, decimals: 0))",
        color: classes.color(part.index)
      )
    }
    return try tinted(image, orientation, legend: []).writing(names, .up)
  }

  /// Encodes ``overlay(on:orientation:)`` as a PNG file.
  ///
  /// - Parameters:
  ///   - image: The image that was segmented.
  ///   - orientation: The orientation of the stored pixels.
  ///   - level: The compression level, 0…9. Levels above 3 take much longer for little gain.
  /// - Throws: `VisionError` as ``overlay(on:orientation:)`` does.
  public func overlayPNG(
    on image: PixelBuffer, orientation: ImageOrientation = .up, level: Int = 3
  ) throws(VisionError) -> Data {
    let overlay = try overlay(on: image, orientation: orientation)
    do throws(ImageError) {
      return Data(try ImageCodec.encode(overlay, as: .png, level: level, name: "overlay"))
    } catch { throw .image(error) }
  }

  /// Returns the tint of a class; nil for unseen pixels and for background classes that were not requested.
  private func overlayColor(_ index: Int) -> IndexedPNG.Color? {
    let isShown = chosen?.contains(index) ?? !classes.isSurroundings(index)
    return isShown && index != ClassPalette.unseenIndex ? classes.color(index) : nil
  }

  /// - Parameter name: The name in errors.
  package func labelMapPNG(name: String) throws(ImageError) -> [UInt8] {
    let largest = Int(map.classes.max() ?? 0)
    return try IndexedPNG.encode(
      width: width, height: height, indices: map.classes, palette: classes.palette(upTo: largest), name: name)
  }
}
