#if Collections
public import Kelvin
import KelvinReport

/// Pictures under what was found on them, on one page that opens anywhere and fetches nothing, to be filtered by their surest
/// labels.
///
/// ```swift
/// let pictures = try files.map { file in
///   let picture = try ImageFile.decode(path: file)
///   let found = try await request.perform(on: picture.pixels, orientation: picture.orientation)
///   return try PictureSheet.Picture(
///     name: file, try picture.pixels.drawing(found, orientation: picture.orientation),
///     labels: found.compactMap { $0.labels.first }.map { ($0.identifier, "\($0.confidence)") })
/// }
/// let page = PictureSheet(title: "Birds", summary: "what a detector found", pictures: pictures).html()
/// ```
public struct PictureSheet: Sendable {
  /// One of them: a thumbnail is kept of it, or the reason why there is none.
  public struct Picture: Sendable {
    let shown: ContactSheet.Picture

    init(_ shown: ContactSheet.Picture) { self.shown = shown }

    /// A picture that is there.
    ///
    /// - Parameters:
    ///   - name: under the picture.
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

    /// A picture that is not there.
    ///
    /// - Parameters:
    ///   - name: under its place.
    ///   - fault: said in its place.
    public init(name: String, fault: String) {
      shown = ContactSheet.Picture(path: name, labels: [], width: 0, height: 0, thumbnail: nil, fault: fault)
    }

    /// More are no help under a thumbnail.
    static let mostLabels = 5
  }

  /// Above the page.
  public var title: String
  /// What is shown of what, in a sentence.
  public var summary: String
  /// Those that are shown, in this order.
  public var pictures: [Picture]

  /// A page of pictures.
  ///
  /// - Parameters:
  ///   - title: above the page.
  ///   - summary: what is shown of what, in a sentence.
  ///   - pictures: in their order.
  public init(title: String, summary: String, pictures: [Picture]) {
    (self.title, self.summary, self.pictures) = (title, summary, pictures)
  }

  /// - Returns: an HTML document.
  public func html() -> String {
    ContactSheet(title: title, summary: summary, pictures: pictures.map(\.shown), kelvinVersion: kelvinVersion)
      .render()
  }
}
#endif
