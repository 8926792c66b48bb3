#if Collections
import FoundationEssentials
import Kelvin
import KelvinBasics

/// A data set as one JSON document of images, what is on them, and what that is called, as COCO has it.
struct COCODocument: Decodable {
  struct Image: Decodable {
    var id: Int
    var fileName: String
  }

  struct Annotation: Decodable {
    var imageId: Int
    var categoryId: Int
    /// The left top corner, width and height, in pixels.
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

  /// Whether the first character is that of a JSON object.
  static func begins(_ data: Data) -> Bool { data.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{") }

  /// - Throws: `VisionError.invalidRequest` with what was expected.
  init(_ data: Data, at path: String) throws(VisionError) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do { self = try JSONText.decode(COCODocument.self, from: data, with: decoder) } catch {
      throw .invalidRequest(
        "'\(path)' is no data set: expected {\"images\": [{\"id\", \"file_name\"}], "
          + "\"annotations\": [{\"image_id\", \"category_id\"}], \"categories\": [{\"id\", \"name\"}]}")
    }
  }

  /// - Throws: `VisionError.invalidRequest` for a file that cannot be read or is no such document.
  init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    let data: Data
    do throws(ModelError) { data = try LocalFile.read(path) } catch { throw .invalidRequest(error.description) }
    try self.init(data, at: path)
  }

  /// Categories' names by their numbers.
  var names: [Int: String] { Dictionary(categories.map { ($0.id, $0.name) }) { first, _ in first } }

  /// What is on each image.
  var annotationsByImage: [Int: [Annotation]] { Dictionary(grouping: annotations, by: \.imageId) }

  /// Where an image lies: relative paths begin at the document.
  func path(of image: Image, in document: String) -> String { document.siblingPath(image.fileName) }
}
#endif
