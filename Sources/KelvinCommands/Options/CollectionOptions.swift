import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// A folder of images, and where its index lies.
struct CollectionOptions: ParsableArguments {
  @Argument(help: "The folder whose images are indexed, with those below it.")
  var folder: String

  @Option(
    help: ArgumentHelp("The index. (default: .kelvin-index.sqlite in the folder)", valueName: "file"))
  var index: String?

  var photoIndex: PhotoIndex {
    PhotoIndex(folder: URL(filePath: folder), url: index.map { URL(filePath: $0) })
  }

  /// A file of the folder as others are to open it, from where the command runs.
  func path(of image: String) -> String { folder.appendingPath(image) }
}
