#if Collections
public import FoundationEssentials
import Kelvin
import KelvinEvaluation

/// Images with boxes around what is on them, from a document as COCO's.
public struct DetectedImages: EvaluationDataset {
  /// An image.
  public struct Image: EvaluationExample {
    /// Where it lies.
    public let path: String
    /// The same.
    public var name: String { path }
    /// What is on it; classes are the data set's.
    let truths: [DetectedImage.Truth]
  }

  public let examples: [Image]
  public let remarks: [String]
  /// What classes are called, by their numbers in the truths.
  public let names: [String]

  /// A data set.
  ///
  /// - Parameter url: a JSON document with `images` (`id`, `file_name`), `categories` (`id`, `name`) and `annotations`: `image_id`,
  ///   `category_id`, `bbox` (left, top, width and height in pixels of the upright image), and where they are known `area` of
  ///   what is in the box and `iscrowd`. An image without annotations has nothing on it.
  /// - Throws: `VisionError.invalidRequest` where there are no boxes, with what was expected.
  public init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    let document = try COCODocument(contentsOf: url)
    let numbers = Dictionary(document.categories.enumerated().map { ($1.id, $0) }) { first, _ in first }
    let annotations = document.annotationsByImage
    var boxCount = 0
    examples = document.images.map { image in
      let truths = (annotations[image.id] ?? []).compactMap { annotation -> DetectedImage.Truth? in
        guard let label = numbers[annotation.categoryId], let box = annotation.bbox, box.count == 4,
          box.allSatisfy(\.isFinite)
        else { return nil }
        return DetectedImage.Truth(
          label: label, box: EvaluatedBox(x: box[0], y: box[1], width: box[2], height: box[3]), area: annotation.area,
          isCrowd: annotation.iscrowd == 1)
      }
      boxCount += truths.count
      return Image(path: document.path(of: image, in: path), truths: truths)
    }
    guard boxCount > 0 else {
      throw .invalidRequest(
        "'\(path)' has no boxes; expected \"annotations\": [{\"image_id\", \"category_id\", \"bbox\": [left, top, width, height]}]")
    }
    names = document.categories.map(\.name)
    let left = document.annotations.count - boxCount
    let (noun, verb) = left == 1 ? ("annotation has", "does") : ("annotations have", "do")
    remarks = left == 0 ? [] : ["\(left) \(noun) no box, image or category, and \(verb) not count"]
  }
}
#endif
