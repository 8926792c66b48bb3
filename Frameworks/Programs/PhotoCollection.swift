// Classifies a collection with Vision's second generation, and keeps the classes that reach a precision and a recall.
// The classifier is the user's default model, as VNClassifyImageRequest and ClassifyImageRequest use it.
//
// PhotoCollection PHOTO…
import Foundation
import Vision

struct ImageFile: Identifiable, Sendable {
  let id = UUID()
  let url: URL
  var observations: [String: Float] = [:]
}

func classifyImage(url: URL) async throws -> ImageFile {
  var image = ImageFile(url: url)
  let request = ClassifyImageRequest()
  let results = try await request.perform(on: url)
    .filter { $0.hasMinimumPrecision(0.1, forRecall: 0.8) }
  for classification in results { image.observations[classification.identifier] = classification.confidence }
  return image
}

func classifyAllImages(urls: [URL]) async throws -> [ImageFile] {
  var images = [ImageFile]()
  try await withThrowingTaskGroup(of: ImageFile.self) { group in
    for url in urls { group.addTask { return try await classifyImage(url: url) } }
    for try await image in group { images.append(image) }
  }
  return images
}

@main
struct PhotoCollection {
  static func main() async throws {
    let urls = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
    let images = try await classifyAllImages(urls: urls).sorted { $0.url.path < $1.url.path }
    for image in images { print("\(image.url.lastPathComponent): \(image.observations.keys.sorted())") }
    let search = "macaw"
    print("found: \(images.filter { $0.observations.keys.contains(search) }.map(\.url.lastPathComponent))")

    // One handler for several requests of one image, of every kind of image.
    let handler = ImageRequestHandler(urls[0])
    let (first, second) = try await handler.perform(ClassifyImageRequest(), ClassifyImageRequest())
    print("twice: \(first.first?.identifier ?? "none") \(second.first?.identifier ?? "none")")
    guard let source = CGImageSourceCreateWithURL(urls[0] as CFURL, nil),
      let cgImage = CGImageSourceCreateImageAtIndex(source, 0, nil), let ciImage = CIImage(contentsOf: urls[0])
    else { fatalError("the photo cannot be read") }
    let request = ClassifyImageRequest()
    let found = [
      try await request.perform(on: cgImage, orientation: .up), try await request.perform(on: ciImage),
      try await request.perform(on: Data(contentsOf: urls[0])),
    ]
    print("kinds: \(found.map { $0.first?.identifier ?? "none" })")
    let classic = VNClassifyImageRequest()
    try VNImageRequestHandler(cgImage: cgImage).perform([classic])
    let precise = classic.results?.filter { $0.hasMinimumRecall(0.01, forPrecision: 0.9) } ?? []
    print("classic: \(precise.map { "\($0.identifier) \(String(format: "%.3f", $0.confidence))" })")
  }
}
