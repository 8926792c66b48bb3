import Kelvin
import KelvinBasics
import KelvinVision
import Synchronization

/// The contact sheet of a command that looks at many pictures: thumbnails are made as pictures are seen.
final class SheetWriter: Sendable {
  /// Beyond so many pictures a page is slow to open.
  private static let mostPictures = 500

  private let path: String
  private let title: String
  private let pictures = Mutex<[Int: PictureSheet.Picture]>([:])

  /// - Parameters:
  ///   - path: where the page is written; nil for none.
  ///   - title: above the page.
  init?(_ path: String?, title: String) {
    guard let path else { return nil }
    (self.path, self.title) = (path, title)
  }

  /// Whether a picture has a place on the page, by its own among all.
  func wants(_ index: Int) -> Bool { index < Self.mostPictures }

  /// Adds a picture, unless the page has enough.
  ///
  /// - Throws: `ImageError` where no thumbnail can be made.
  func add(
    _ index: Int, _ name: String, _ pixels: PixelBuffer, orientation: ImageOrientation = .up,
    _ labels: [(name: String, figure: String)]
  ) throws {
    guard wants(index) else { return }
    let picture = try recognizing { () throws(VisionError) in
      try PictureSheet.Picture(name: name, pixels, orientation: orientation, labels: labels)
    }
    pictures.withLock { $0[index] = picture }
  }

  /// Adds a picture that could not be read.
  func add(_ index: Int, _ name: String, fault: String) {
    guard wants(index) else { return }
    pictures.withLock { $0[index] = PictureSheet.Picture(name: name, fault: fault) }
  }

  /// Writes the page.
  ///
  /// - Parameter count: of all pictures.
  func write(of count: Int) throws {
    let shown = pictures.withLock { pictures in pictures.sorted { $0.key < $1.key }.map(\.value) }
    let summary = shown.count < count ? "the first \(shown.count) of \(count) pictures" : counted(count, "picture")
    try LocalFile.write(PictureSheet(title: title, summary: summary, pictures: shown).html().utf8, to: path)
    Console.note("wrote \(path)")
  }
}
