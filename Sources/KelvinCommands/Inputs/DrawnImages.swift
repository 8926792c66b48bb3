import Kelvin
import KelvinBasics
import KelvinVision

/// Where images with what was found on them are written.
struct DrawnImages: Sendable {
  private let folder: String
  private let names: [String]

  /// - Parameters:
  ///   - folder: made if it is not there.
  ///   - files: the images.
  ///   - kind: of what is drawn, for the files' names.
  init(in folder: String, of files: [ImageFileList.File], _ kind: String) throws {
    try LocalFile.makeFolder(folder)
    self.folder = folder
    names = FileNames.all(files.map(\.path)).map { "\($0).\(kind).png" }
  }

  /// Writes the drawing of an image.
  ///
  /// - Parameter index: its place among the files.
  /// - Returns: the file's path.
  func write(_ image: PixelBuffer, _ index: Int) throws -> String {
    let path = folder.appendingPath(names[index])
    try LocalFile.write(try ImageFile.encode(image, as: .png, name: path), to: path)
    return path
  }
}

extension DecodedImage {
  /// The size of the image as it is seen.
  var uprightSize: ImageSize { ImageSize(width: width, height: height) }
}
