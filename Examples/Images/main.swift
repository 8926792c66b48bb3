import FoundationEssentials
import Kelvin
import KelvinVision

// Usage: Images CLASSIFIER SEGMENTER IMAGE... Follows Apple's articles on images: classifying with a Core ML model,
// classifying a collection for categorization and search, and segmenting with DETR.
let classifier = URL(filePath: CommandLine.arguments[1])
let segmenter = URL(filePath: CommandLine.arguments[2])
let images = CommandLine.arguments.dropFirst(3).map { URL(filePath: $0) }

/// Creates one request for all images.
func makeClassificationRequest() async throws -> CoreMLRequest {
  var request = CoreMLRequest(model: try CoreMLModelContainer(model: try await Model.load(contentsOf: classifier)))
  request.cropAndScaleAction = .centerCrop
  return request
}

/// Prints the two most probable classes of an image.
func classify(_ image: URL, _ request: CoreMLRequest) async {
  do {
    let classes = try await request.perform(on: image).compactMap { $0 as? ClassificationObservation }
    print("Classification:", classes.prefix(2).map { "(\($0.confidence)) \($0.identifier)" }.joined(separator: ", "))
  } catch { print("Cannot classify the image.\n\(error)") }
}

/// Returns the categories that meet the required precision, and search terms, for an image.
func categorize(_ image: URL) async throws -> (categories: [String: Float], searchTerms: [String: Float]) {
  let handler = ImageRequestHandler(image)
  let request = try ClassificationRequest(model: try await Model.load(contentsOf: classifier))
  let observations = try await handler.perform(request)
  let categories = observations.filter { $0.hasMinimumRecall(0.01, forPrecision: 0.9) }
    .reduce(into: [String: Float]()) { $0[$1.identifier] = $1.confidence }
  let searchTerms = observations.filter { $0.hasMinimumPrecision(0.01, forRecall: 0.7) }
    .reduce(into: [String: Float]()) { $0[$1.identifier] = $1.confidence }
  return (categories, searchTerms)
}

/// Prints the parts of an image with the model's own labels and colors, and writes an overlay.
func segment(_ image: URL, by model: Model) async throws {
  let request = try SegmentationRequest(model: model)
  let observation = try await request.perform(on: image)
  for part in observation.parts { print(part.label, part.color, part.share) }
  let name = image.lastPathComponent
  let decoded = try ImageCodec.decode(path: image.path)
  let overlay = try observation.overlayPNG(on: decoded.pixels, orientation: decoded.orientation)
  try overlay.write(to: URL(filePath: "\(name).overlay.png"))
}

let request = try await makeClassificationRequest()
let model = try await Model.load(contentsOf: segmenter)
for image in images {
  await classify(image, request)
  print(try await categorize(image))
  try await segment(image, by: model)
}
