#if Collections
public import Kelvin
import KelvinReport

/// Images under what was found on them, on one page that opens anywhere and fetches nothing, to be filtered by their surest
/// labels.
///
/// ```swift
/// let images = try files.map { file in
///   let image = try ImageFile.decode(path: file)
///   let found = try await request.perform(on: image.pixels, orientation: image.orientation)
///   return try ImageSheet.Image(
///     name: file, try image.pixels.drawing(found, orientation: image.orientation),
///     labels: found.compactMap { $0.labels.first }.map { ($0.identifier, "\($0.confidence)") })
/// }
/// let page = ImageSheet(title: "Birds", summary: "what a detector found", images: images).html()
/// ```
public struct ImageSheet: Sendable {
  /// One of them: a thumbnail is kept of it, or the reason why there is none.
  public struct Image: Sendable {
    let shown: ContactSheet.Image

    init(_ shown: ContactSheet.Image) { self.shown = shown }

    /// An image that is there.
    ///
    /// - Parameters:
    ///   - name: under the image.
    ///   - pixels: as they are stored; drawn on or not.
    ///   - orientation: how they are turned.
    ///   - labels: what is on it, the surest first, each with a figure in words.
    /// - Throws: `VisionError.image` where no thumbnail can be made.
    public init(
      name: String, _ pixels: PixelBuffer, orientation: ImageOrientation = .up,
      labels: [(name: String, figure: String)] = []
    ) throws(VisionError) {
      do throws(ImageError) {
        shown = try .thumbnail(
          of: pixels, orientation: orientation, encodedAs: name,
          labels.prefix(Self.mostLabels).map { (name: $0.name, confidence: $0.figure) })
      } catch { throw .image(error) }
    }

    /// An image that is not there.
    ///
    /// - Parameters:
    ///   - name: under its place.
    ///   - fault: said in its place.
    public init(name: String, fault: String) {
      shown = ContactSheet.Image(path: name, labels: [], width: 0, height: 0, thumbnail: nil, fault: fault)
    }

    /// More are no help under a thumbnail.
    static let mostLabels = 5
  }

  /// Above the page.
  public var title: String
  /// What is shown of what, in a sentence.
  public var summary: String
  /// Those that are shown, in this order.
  public var images: [Image]

  /// A page of images.
  ///
  /// - Parameters:
  ///   - title: above the page.
  ///   - summary: what is shown of what, in a sentence.
  ///   - images: in their order.
  public init(title: String, summary: String, images: [Image]) {
    (self.title, self.summary, self.images) = (title, summary, images)
  }

  /// - Returns: an HTML document.
  public func html() -> String {
    ContactSheet(title: title, summary: summary, images: images.map(\.shown), kelvinVersion: kelvinVersion)
      .render()
  }
}
#endif
