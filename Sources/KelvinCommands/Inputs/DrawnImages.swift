import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

/// A writer for images with results drawn on them.
struct DrawnImages: Sendable {
  private let folder: String
  private let names: [String]

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - folder: The folder, created if necessary.
  ///   - files: The images.
  ///   - kind: The kind of drawing, used in file names.
  init(in folder: String, of files: [ImageFileList.File], _ kind: String) throws {
    try LocalFile.makeFolder(folder)
    self.folder = folder
    names = FileNames.all(files.map(\.path)).map { "\($0).\(kind).png" }
  }

  /// Writes the drawing of an image.
  ///
  /// - Parameter index: The index of the image among the files.
  /// - Returns: The path of the written file.
  func write(_ image: PixelBuffer, _ index: Int) throws -> String {
    let path = folder.appendingPath(names[index])
    try LocalFile.write(try ImageCodec.encode(image, as: .png, name: path), to: path)
    return path
  }
}

extension DecodedImage {
  /// The size of the upright image.
  var uprightSize: ImageSize { ImageSize(width: width, height: height) }
}
