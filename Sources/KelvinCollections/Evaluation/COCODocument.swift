import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// A data set as one JSON document in COCO's format: images, their annotations, and the categories' names.
struct COCODocument: Decodable {
  struct Image: Decodable {
    var id: Int
    var fileName: String
  }

  struct Annotation: Decodable {
    var imageId: Int
    var categoryId: Int
    /// The left and top edge, the width and the height, in pixels.
    var bbox: [Double]?
    var area: Double?
    var iscrowd: Int?
    var segmentation: COCOShape?
  }

  struct Category: Decodable {
    var id: Int
    var name: String
  }

  var images: [Image]
  var annotations: [Annotation]
  var categories: [Category]

  /// Whether the first character other than white space and control characters opens a JSON object.
  static func begins(_ data: Data) -> Bool { data.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{") }

  /// Decodes a document.
  ///
  /// - Throws: `VisionError.invalidRequest` that says what was expected.
  init(_ data: Data, at path: String) throws(VisionError) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do { self = try JSONText.decode(COCODocument.self, from: data, with: decoder) } catch {
      throw .invalidRequest(
        "'\(path)' is not a COCO data set: expected {\"images\": [{\"id\", \"file_name\"}], "
          + "\"annotations\": [{\"image_id\", \"category_id\"}], \"categories\": [{\"id\", \"name\"}]}")
    }
  }

  /// Reads and decodes a file.
  ///
  /// - Throws: `VisionError.invalidRequest` for a file that cannot be read or is not a valid document.
  init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    let data: Data
    do throws(ModelError) { data = try LocalFile.read(path) } catch { throw .invalidRequest(error.description) }
    try self.init(data, at: path)
  }

  /// The categories' names by their identifiers.
  var names: [Int: String] { Dictionary(categories.map { ($0.id, $0.name) }) { first, _ in first } }

  /// The annotations of each image, by the image's identifier.
  var annotationsByImage: [Int: [Annotation]] { Dictionary(grouping: annotations, by: \.imageId) }

  /// Returns the path of an image. Relative file names are resolved against the document's folder.
  func path(of image: Image, in document: String) -> String { document.siblingPath(image.fileName) }
}
