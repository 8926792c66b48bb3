import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

/// A folder of images and the file of its index.
struct CollectionOptions: ParsableArguments {
  @Argument(help: "The folder of indexed images, including its subfolders.")
  var folder: String

  @Option(
    help: ArgumentHelp("The index file. (default: .kelvin-index.sqlite in the folder)", valueName: "file"))
  var index: String?

  var photoIndex: PhotoIndex {
    PhotoIndex(folder: URL(filePath: folder), url: index.map { URL(filePath: $0) })
  }

  /// Returns the path of an image, from its path relative to the folder.
  func path(of image: String) -> String { folder.appendingPath(image) }
}
