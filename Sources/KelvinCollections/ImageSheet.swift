public import Kelvin
import KelvinReport
public import KelvinVision

/// A self-contained HTML page of images with their labels, which can be filtered by label.
///
/// ```swift
/// let images = try files.map { file in
///   let image = try ImageCodec.decode(path: file)
///   let found = try await request.perform(on: image.pixels, orientation: image.orientation)
///   return try ImageSheet.Image(
///     name: file, try image.pixels.drawing(found, orientation: image.orientation),
///     labels: found.compactMap { $0.labels.first }.map { ($0.identifier, "\($0.confidence)") })
/// }
/// let page = ImageSheet(title: "Birds", summary: "what a detector found", images: images).html()
/// ```
public struct ImageSheet: Sendable {
  /// An image of the page: a thumbnail, or the reason why there is none.
  public struct Image: Sendable {
    let shown: ContactSheet.Image

    init(_ shown: ContactSheet.Image) { self.shown = shown }

    /// Creates an entry with a thumbnail.
    ///
    /// - Parameters:
    ///   - name: The caption.
    ///   - pixels: The stored pixels, with or without drawings.
    ///   - orientation: The orientation of the stored pixels.
    ///   - labels: The labels, the most confident first, each with a formatted figure.
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

    /// Creates an entry for an image that is not available.
    ///
    /// - Parameters:
    ///   - name: The caption.
    ///   - fault: The reason, shown in place of the image.
    public init(name: String, fault: String) {
      shown = ContactSheet.Image(path: name, labels: [], width: 0, height: 0, thumbnail: nil, fault: fault)
    }

    /// The largest number of labels below a thumbnail.
    static let mostLabels = 5
  }

  /// The title of the page.
  public var title: String
  /// A summary of the page's content in one sentence.
  public var summary: String
  /// The images, in the order of the page.
  public var images: [Image]

  /// Creates a page of images.
  ///
  /// - Parameters:
  ///   - title: The title of the page.
  ///   - summary: A summary of the page's content in one sentence.
  ///   - images: The images in their order.
  public init(title: String, summary: String, images: [Image]) {
    (self.title, self.summary, self.images) = (title, summary, images)
  }

  /// Renders the page.
  ///
  /// - Returns: An HTML document that loads no other resources.
  public func html() -> String {
    ContactSheet(title: title, summary: summary, images: images.map(\.shown), kelvinVersion: kelvinVersion)
      .render()
  }
}
