import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision
import Synchronization

/// The contact sheet of a command that processes many images. Thumbnails are made as soon as an image is processed.
final class SheetWriter: Sendable {
  /// The largest number of images on a page; larger pages open slowly.
  private static let mostImages = 500

  private let path: String
  private let title: String
  private let images = Mutex<[Int: ImageSheet.Image]>([:])

  /// Creates a writer; nil without a path.
  ///
  /// - Parameters:
  ///   - path: The path of the page.
  ///   - title: The title of the page.
  init?(_ path: String?, title: String) {
    guard let path else { return nil }
    (self.path, self.title) = (path, title)
  }

  /// Returns whether the image with an index is on the page.
  func wants(_ index: Int) -> Bool { index < Self.mostImages }

  /// Adds an image, unless the page is full.
  ///
  /// - Throws: `ImageError` where no thumbnail can be made.
  func add(
    _ index: Int, _ name: String, _ pixels: PixelBuffer, orientation: ImageOrientation = .up,
    _ labels: [(name: String, figure: String)]
  ) throws {
    guard wants(index) else { return }
    let image = try recognizing { () throws(VisionError) in
      try ImageSheet.Image(name: name, pixels, orientation: orientation, labels: labels)
    }
    images.withLock { $0[index] = image }
  }

  /// Adds an image that could not be read, unless the page is full.
  func add(_ index: Int, _ name: String, fault: String) {
    guard wants(index) else { return }
    images.withLock { $0[index] = ImageSheet.Image(name: name, fault: fault) }
  }

  /// Writes the page.
  ///
  /// - Parameter count: The number of all images.
  func write(of count: Int) throws {
    let shown = images.withLock { images in images.sorted { $0.key < $1.key }.map(\.value) }
    let summary = shown.count < count ? "the first \(shown.count) of \(count) images" : counted(count, "image")
    try LocalFile.write(ImageSheet(title: title, summary: summary, images: shown).html().utf8, to: path)
    Console.note("wrote \(path)")
  }
}
