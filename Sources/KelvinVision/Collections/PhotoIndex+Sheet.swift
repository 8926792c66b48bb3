#if Collections
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinIndex
import KelvinReport

extension PhotoIndex {
  /// Images on one page that opens anywhere and fetches nothing: thumbnails under their labels, to be filtered by them.
  ///
  /// The images are decoded again, several at a time. One that cannot be read by now is on the page with the reason.
  ///
  /// - Parameters:
  ///   - result: what a search found.
  ///   - limit: how many of its matches are on the page at most.
  ///   - title: above the page.
  ///   - progress: told how many thumbnails are done, from any thread.
  /// - Returns: an HTML document.
  /// - Throws: `VisionError.image` where no images can be decoded at all.
  public func contactSheet(
    of result: PhotoSearchResult, limit: Int = 100, title: String, progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) -> String {
    do throws(ImageError) { try ImageFile.prepare() } catch { throw .image(error) }
    let matches = Array(result.matches.prefix(max(limit, 0)))
    let images = [ImageSheet.Image](together: matches.count, progress: progress) { .init(image(matches[$0])) }
    let count = result.count
    let summary =
      images.count < count ? "\(images.count) of \(count) images, the best first" : counted(count, "image")
    return ImageSheet(title: title, summary: summary, images: images).html()
  }

  /// What is in the collection on one page that opens anywhere and fetches nothing: for each category the image that the
  /// model is surest of.
  ///
  /// - Parameters:
  ///   - categories: as ``categories(_:)`` has them.
  ///   - title: above the page.
  ///   - progress: told how many thumbnails are done, from any thread.
  /// - Returns: an HTML document.
  /// - Throws: `VisionError.image` where no images can be decoded at all.
  public func contactSheet(
    of categories: [PhotoCategory], title: String, progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) -> String {
    do throws(ImageError) { try ImageFile.prepare() } catch { throw .image(error) }
    let images = [ImageSheet.Image](together: categories.count, progress: progress) { place in
      let category = categories[place]
      return .init(
        .thumbnail(
          ofFileAt: file.path(of: category.example), shownAs: category.example,
          [(name: category.identifier, confidence: counted(category.count, "image"))]))
    }
    let count = categories.count
    let summary = "\(count) categor\(count == 1 ? "y" : "ies"), of each the image that the model is surest of"
    return ImageSheet(title: title, summary: summary, images: images).html()
  }

  private func image(_ match: PhotoMatch) -> ContactSheet.Image {
    let labels = match.labels.prefix(ImageSheet.Image.mostLabels).map {
      (name: $0.identifier, confidence: HumanReadable.percent(Double($0.confidence), decimals: 0))
    }
    return .thumbnail(ofFileAt: file.path(of: match.path), shownAs: match.path, labels)
  }
}

extension ContactSheet.Image {
  /// Pixels of a thumbnail's longer side: twice what a column is wide, for screens with small pixels.
  private static let thumbnailSide = 400
  private static let quality = 78

  /// An image decoded again; one that cannot be read by now says why.
  static func thumbnail(
    ofFileAt path: String, shownAs name: String, _ labels: [(name: String, confidence: String)]
  ) -> ContactSheet.Image {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(path: path)
      return try thumbnail(of: decoded.pixels, orientation: decoded.orientation, encodedAs: name, labels)
    } catch {
      return ContactSheet.Image(path: name, labels: labels, width: 0, height: 0, thumbnail: nil, fault: error.reason)
    }
  }

  /// An image that is there.
  static func thumbnail(
    of pixels: PixelBuffer, orientation: ImageOrientation, encodedAs name: String,
    _ labels: [(name: String, confidence: String)]
  ) throws(ImageError) -> ContactSheet.Image {
    let small = try pixels.thumbnail(side: thumbnailSide, orientation: orientation)
    let bytes = try ImageFile.encode(small, as: .jpeg(quality: quality), name: name)
    return ContactSheet.Image(
      path: name, labels: labels, width: small.width, height: small.height,
      thumbnail: Data(bytes).base64EncodedString())
  }
}
#endif
