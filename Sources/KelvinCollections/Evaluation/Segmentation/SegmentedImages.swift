public import FoundationEssentials
import Glibc
package import Kelvin
import KelvinBasics
import KelvinEvaluation
import KelvinIndex
public import KelvinVision

/// Images with the class of each of their pixels: a folder with a folder of images and one of label maps, or a COCO
/// document with polygons or run lengths.
public struct SegmentedImages: EvaluationDataset {
  /// An image with its label map.
  public struct Image: EvaluationExample {
    /// The path of the file.
    public var path: String
    /// The path of the file.
    public var name: String { path }
    let truth: Truth
    /// The folder of the data set that the file was found in; nil if a document names it.
    public internal(set) var folder: String?
  }

  enum Truth: Sendable {
    /// The path of a PNG file whose samples are classes.
    case file(String)
    /// Shapes in drawing order: later shapes cover earlier ones. Uncovered pixels are class 0.
    case shapes([(label: UInt8, shape: COCOShape)])
    /// A model's answer.
    case answer(SegmentationRequest)
  }

  public let examples: [Image]
  public let remarks: [String]
  /// The names of the classes, by their indices; nil where the data set uses the model's own indices.
  public let names: [String]?

  private static let imageFolders = ["images", "pictures", "JPEGImages"]
  private static let mapFolders = ["labels", "masks", "annotations", "SegmentationClass"]
  private static let expected =
    "expected a folder with 'images' and 'labels' in it, a PNG of classes in the second for each image in the first, or a "
    + "COCO document with segmentations"

  /// Reads a data set.
  ///
  /// - Parameter url: A folder or a JSON document. A folder has two subfolders: `images` (or `pictures`, `JPEGImages`)
  ///   and `labels` (or `masks`, `annotations`, `SegmentationClass`). For each image, the latter has a palette or grey
  ///   PNG with the image's base name and size, whose samples are classes; 255 is ignored. Classes are the model's own
  ///   indices, unless a file `classes.txt` next to the subfolders names them, one per line from 0 on. A JSON document
  ///   has `images`, `categories` and `annotations`, each with a `segmentation`; uncovered pixels are `background`.
  /// - Throws: `VisionError.invalidRequest` where there are no such images; it says what was expected.
  public init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    var status = stat()
    guard stat(path.pathBytes, &status) == 0 else {
      throw .invalidRequest("'\(path)' cannot be read: \(String(cString: strerror(errno)))")
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      (examples, remarks, names) = try Self.folders(path)
    } else {
      (examples, remarks, names) = try Self.document(path)
    }
    guard !examples.isEmpty else {
      throw .invalidRequest("'\(path)' has no segmented images; \(Self.expected)")
    }
  }

  /// Creates a data set whose correct answers are those of a model, to compare its copies with it.
  ///
  /// - Parameters:
  ///   - request: The model, which answers whenever a label map is needed.
  ///   - paths: The files of the images.
  package init(answersOf request: SegmentationRequest, paths: [String]) {
    examples = paths.map { Image(path: $0, truth: .answer(request)) }
    (remarks, names) = ([], nil)
  }

  private typealias Found = (images: [Image], remarks: [String], names: [String]?)

  private static func isThere(_ path: String) -> Bool { access(path.pathBytes, F_OK) == 0 }

  private static func folders(_ path: String) throws(VisionError) -> Found {
    func folder(_ names: [String]) -> String? { names.map { path.appendingPath($0) }.first(where: isThere) }
    guard let imagesPath = folder(imageFolders), let maps = folder(mapFolders) else {
      throw .invalidRequest("'\(path)' has no segmented images; \(expected)")
    }
    let walk = try indexing { () throws(PhotoIndexError) in
      try FolderScan(imagesPath, followsLinks: false, found: { _ in }, isCancelled: { false })
    }
    var remarks = walk.faults.map { "'\(imagesPath.appendingPath($0.path))': \($0.reason)" }
    var images: [Image] = []
    for entry in walk.entries {
      let stem = entry.path.lastIndex(of: ".").map { String(entry.path[..<$0]) } ?? entry.path
      let map = maps.appendingPath("\(stem).png")
      guard isThere(map) else { continue }
      images.append(Image(path: imagesPath.appendingPath(entry.path), truth: .file(map), folder: path))
    }
    let missing = walk.entries.count - images.count
    if missing > 0 {
      remarks.append("\(missing) image\(missing == 1 ? " has" : "s have") no label map in '\(maps)': not counted")
    }
    return (images, remarks, try classNames(path.appendingPath("classes.txt"), below: path))
  }

  private static func classNames(_ path: String, below folder: String) throws(VisionError) -> [String]? {
    guard isThere(path) else { return nil }
    let data: Data
    do throws(ModelError) { data = try LocalFile.read(path, below: folder) } catch {
      throw .invalidRequest(error.description)
    }
    var lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasSuffix("\r") ? String($0.dropLast()) : String($0) }
    if lines.last == "" { lines.removeLast() }
    guard (1...Int(SegmentedImage.noClass)).contains(lines.count) else {
      throw .invalidRequest("'\(path)' names \(lines.count) classes; expected 1 to \(SegmentedImage.noClass)")
    }
    return lines
  }

  private static func document(_ path: String) throws(VisionError) -> Found {
    let document = try COCODocument(contentsOf: URL(filePath: path))
    let categories = document.categories.sorted { $0.id < $1.id }
    guard categories.count < Int(SegmentedImage.noClass) else {
      throw .invalidRequest(
        "'\(path)' has \(categories.count) categories; a label map holds "
          + "\(SegmentedImage.noClass - 1) besides the background")
    }
    let numbers = Dictionary(zip(categories.map(\.id), UInt8(1)...)) { first, _ in first }
    let annotations = document.annotationsByImage
    let images = document.images.map { image in
      let shapes = (annotations[image.id] ?? []).compactMap { annotation in
        numbers[annotation.categoryId].flatMap { label in annotation.segmentation.map { (label: label, shape: $0) } }
      }
      return Image(path: document.path(of: image, in: path), truth: .shapes(shapes))
    }
    guard document.annotations.contains(where: { $0.segmentation != nil }) else {
      throw .invalidRequest("'\(path)' has no segmentations; \(expected)")
    }
    return (images, [], ["background"] + categories.map(\.name))
  }
}

extension SegmentedImages.Image {
  /// Returns the class of each pixel of the upright image.
  ///
  /// - Throws: `VisionError`: `image` where the label map cannot be read or differs in size from the image; `prediction`
  ///   where the model whose answer it is fails.
  package func labelMap(of image: DecodedImage) throws(VisionError) -> [UInt8] {
    if case .answer(let request) = truth {
      return try request.segment(image.pixels, orientation: image.orientation).labelMap
    }
    do throws(ImageError) { return try storedLabelMap(of: image) } catch { throw .image(error) }
  }

  private func storedLabelMap(of image: DecodedImage) throws(ImageError) -> [UInt8] {
    switch truth {
    case .answer: preconditionFailure("an answer is not stored")
    case .file(let file):
      let samples = try IndexedPNG.read(path: file, below: folder)
      guard (samples.width, samples.height) == (image.width, image.height) else {
        throw ImageError(
          .invalidArgument, file,
          "the label map is \(samples.width) x \(samples.height), the image \(image.width) x \(image.height)")
      }
      return samples.values
    case .shapes(let shapes):
      var map = [UInt8](repeating: 0, count: image.width * image.height)
      for (label, shape) in shapes {
        if case .runs(let runs) = shape, (runs.width, runs.height) != (image.width, image.height) {
          throw ImageError(
            .invalidArgument, path,
            "an annotation's run lengths are of \(runs.width) x \(runs.height), the image \(image.width) x "
              + "\(image.height)")
        }
        shape.paint(label, on: &map, width: image.width, height: image.height)
      }
      return map
    }
  }
}
