public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinEvaluation
public import KelvinVision

/// Images with boxes around their objects, from a COCO document.
public struct DetectedImages: EvaluationDataset {
  /// An image with its objects.
  public struct Image: EvaluationExample {
    /// The path of the file.
    public let path: String
    /// The path of the file.
    public var name: String { path }
    /// The objects in the image, with the data set's classes.
    let truths: [DetectedImage.Truth]
  }

  public let examples: [Image]
  public let remarks: [String]
  /// The names of the classes, by their indices in the truths.
  public let names: [String]

  /// Reads a data set.
  ///
  /// - Parameter url: A JSON document with `images` (`id`, `file_name`), `categories` (`id`, `name`) and `annotations`.
  ///   An annotation has `image_id`, `category_id` and `bbox` (left, top, width and height in pixels of the upright
  ///   image), and optionally `area` (of the object) and `iscrowd`. An image without annotations contains no objects.
  /// - Throws: `VisionError.invalidRequest` where there are no boxes; it says what was expected.
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
        "'\(path)' has no boxes; expected \"annotations\": [{\"image_id\", \"category_id\", \"bbox\": [left, top, width, height]}]"
      )
    }
    names = document.categories.map(\.name)
    let left = document.annotations.count - boxCount
    let (noun, verb) = left == 1 ? ("annotation", "does") : ("annotations", "do")
    remarks = left == 0 ? [] : ["\(left) \(noun) without a box, image or category \(verb) not count"]
  }

  /// Creates a data set whose objects are those that a model finds, to compare its copies with it.
  ///
  /// - Parameters:
  ///   - request: The model.
  ///   - paths: The files of the images. Files that cannot be read are left out.
  /// - Throws: `VisionError`: `invalidRequest` where the model finds no object; `prediction` where it fails.
  package init(answersOf request: DetectionRequest, paths: [String]) throws(VisionError) {
    var (found, remarks): ([(path: String, detections: [RawDetection])], [String]) = ([], [])
    for path in paths {
      let image: DecodedImage
      do throws(ImageError) { image = try ImageCodec.decode(path: path) } catch {
        remarks.append("'\(path)': \(error)")
        continue
      }
      let objects = try request.detect(image.pixels, orientation: image.orientation)
      found.append((path, objects.compactMap { RawDetection($0, on: image) }))
    }
    let names = Set(found.flatMap { $0.detections.map(\.label) }.exact).sorted()
    guard !names.isEmpty else { throw .invalidRequest("the model finds no object in the images") }
    let numbers = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    examples = found.map { path, detections in
      Image(
        path: path,
        truths: detections.compactMap { detection in
          numbers[ExactString(detection.label)].map {
            DetectedImage.Truth(label: $0, box: detection.box, area: nil, isCrowd: false)
          }
        })
    }
    self.names = names.map(\.string)
    self.remarks = remarks
  }
}
