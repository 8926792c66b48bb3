import Kelvin
import KelvinBasics
import KelvinVision
import Synchronization

/// The contact sheet of a command that looks at many images: thumbnails are made as images are seen.
final class SheetWriter: Sendable {
  /// Beyond so many images a page is slow to open.
  private static let mostImages = 500

  private let path: String
  private let title: String
  private let images = Mutex<[Int: ImageSheet.Image]>([:])

  /// - Parameters:
  ///   - path: where the page is written; nil for none.
  ///   - title: above the page.
  init?(_ path: String?, title: String) {
    guard let path else { return nil }
    (self.path, self.title) = (path, title)
  }

  /// Whether an image has a place on the page, by its own among all.
  func wants(_ index: Int) -> Bool { index < Self.mostImages }

  /// Adds an image, unless the page has enough.
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

  /// Adds an image that could not be read.
  func add(_ index: Int, _ name: String, fault: String) {
    guard wants(index) else { return }
    images.withLock { $0[index] = ImageSheet.Image(name: name, fault: fault) }
  }

  /// Writes the page.
  ///
  /// - Parameter count: of all images.
  func write(of count: Int) throws {
    let shown = images.withLock { images in images.sorted { $0.key < $1.key }.map(\.value) }
    let summary = shown.count < count ? "the first \(shown.count) of \(count) images" : counted(count, "image")
    try LocalFile.write(ImageSheet(title: title, summary: summary, images: shown).html().utf8, to: path)
    Console.note("wrote \(path)")
  }
}
