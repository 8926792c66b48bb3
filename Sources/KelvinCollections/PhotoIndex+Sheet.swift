import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinIndex
import KelvinReport
public import KelvinVision

extension PhotoIndex {
  /// Renders matches as one self-contained HTML page of thumbnails and labels, which can be filtered by label.
  ///
  /// The images are decoded again, several concurrently. An image that can no longer be read is replaced by the reason.
  ///
  /// - Parameters:
  ///   - result: The result of a search.
  ///   - limit: The largest number of matches on the page.
  ///   - title: The title of the page.
  ///   - followsLinks: Whether images behind symbolic links are shown. They may be anywhere on the machine.
  ///   - progress: Called with the number of finished thumbnails, from any thread.
  /// - Returns: An HTML document.
  /// - Throws: `VisionError.image` where no images can be decoded at all.
  public func contactSheet(
    of result: PhotoSearchResult, limit: Int = 100, title: String, followsLinks: Bool = false,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) -> String {
    do throws(ImageError) { try ImageCodec.prepare() } catch { throw .image(error) }
    let matches = Array(result.matches.prefix(max(limit, 0)))
    let images = [ImageSheet.Image](together: matches.count, progress: progress) {
      .init(image(matches[$0], followsLinks))
    }
    let count = result.count
    let summary =
      images.count < count ? "\(images.count) of \(count) images, the best first" : counted(count, "image")
    return ImageSheet(title: title, summary: summary, images: images).html()
  }

  /// Renders categories as one self-contained HTML page, with the most confident image of each category.
  ///
  /// - Parameters:
  ///   - categories: The categories, from ``categories(_:)``.
  ///   - title: The title of the page.
  ///   - followsLinks: Whether images behind symbolic links are shown. They may be anywhere on the machine.
  ///   - progress: Called with the number of finished thumbnails, from any thread.
  /// - Returns: An HTML document.
  /// - Throws: `VisionError.image` where no images can be decoded at all.
  public func contactSheet(
    of categories: [PhotoCategory], title: String, followsLinks: Bool = false,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) -> String {
    do throws(ImageError) { try ImageCodec.prepare() } catch { throw .image(error) }
    let images = [ImageSheet.Image](together: categories.count, progress: progress) { place in
      let category = categories[place]
      return .init(
        .thumbnail(
          ofFileAt: file.path(of: category.example), below: followsLinks ? nil : file.folder,
          shownAs: category.example,
          [(name: category.identifier, confidence: counted(category.count, "image"))]))
    }
    let count = categories.count
    let summary = "\(count) categor\(count == 1 ? "y" : "ies"), of each the image that the model is surest of"
    return ImageSheet(title: title, summary: summary, images: images).html()
  }

  private func image(_ match: PhotoMatch, _ followsLinks: Bool) -> ContactSheet.Image {
    let labels = match.labels.prefix(ImageSheet.Image.mostLabels).map {
      (name: $0.identifier, confidence: HumanReadable.percent(Double($0.confidence), decimals: 0))
    }
    return .thumbnail(
      ofFileAt: file.path(of: match.path), below: followsLinks ? nil : file.folder, shownAs: match.path, labels)
  }
}

extension ContactSheet.Image {
  /// The longer side of a thumbnail in pixels: twice the width of a column, for high-resolution screens.
  private static let thumbnailSide = 400
  private static let quality = 78

  /// Decodes an image and makes a thumbnail. An image that can no longer be read is replaced by the reason.
  static func thumbnail(
    ofFileAt path: String, below folder: String?, shownAs name: String, _ labels: [(name: String, confidence: String)]
  ) -> ContactSheet.Image {
    do throws(ImageError) {
      let decoded = try ImageCodec.decode(path: path, below: folder)
      return try thumbnail(of: decoded.pixels, orientation: decoded.orientation, encodedAs: name, labels)
    } catch {
      return ContactSheet.Image(path: name, labels: labels, width: 0, height: 0, thumbnail: nil, fault: error.reason)
    }
  }

  /// Makes a thumbnail of decoded pixels.
  static func thumbnail(
    of pixels: PixelBuffer, orientation: ImageOrientation, encodedAs name: String,
    _ labels: [(name: String, confidence: String)]
  ) throws(ImageError) -> ContactSheet.Image {
    let small = try pixels.thumbnail(side: thumbnailSide, orientation: orientation)
    let bytes = try ImageCodec.encode(small, as: .jpeg(quality: quality), name: name)
    return ContactSheet.Image(
      path: name, labels: labels, width: small.width, height: small.height,
      thumbnail: Data(bytes).base64EncodedString())
  }
}
