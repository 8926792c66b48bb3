import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision
import Synchronization
import TestSupport
import Testing

/// Images of digits, which the embedded model knows.
@Suite struct PhotoIndexTests {
  private static let images = "\(SharedFiles.projectRoot)/Examples/Digits/images"
  private let folder = TemporaryFolder()

  private var index: PhotoIndex { PhotoIndex(folder: URL(filePath: folder.path)) }

  private static func model(
    _ path: String = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage",
    crop: ImageCropAndScale = .centerCrop
  ) async throws -> PhotoModel {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(
      contentsOf: URL(filePath: path), configuration: PhotoModel.configuration(configuration))
    return try PhotoModel(model: model, cropAndScaleAction: crop)
  }

  /// Copies images of the embedded model under names of the test's.
  private func put(_ images: [String: String]) {
    for (name, image) in images { folder.write(TemporaryFolder.read("\(Self.images)/\(image)"), name) }
  }

  private func find(_ words: String) throws -> Set<String> {
    Set(try index.search(PhotoQuery(words)).matches.filter { $0.score > 0.5 }.map(\.path))
  }

  @Test func labelsFindTheImages() async throws {
    put(["a/nought.png": "0_0030.png", "a/b/nine.png": "9_0125.png", "three.jpg": "3_0103.jpg"])
    let update = try await index.update(with: try await Self.model())
    #expect((update.seen, update.unreadable, update.isComplete) == (3, 0, true))
    #expect(try find("zero") == ["a/nought.png"])
    #expect(try find("nine OR three") == ["a/b/nine.png", "three.jpg"])
    let match = try #require(try index.search(PhotoQuery("nine")).matches.first)
    #expect(match.labels.first?.identifier == "nine")
    #expect(try index.categories().map(\.count) == [1, 1, 1])
  }

  @Test func updateReadsNewImagesAndRecognizesMovedOnes() async throws {
    let model = try await Self.model()
    put(["nought.png": "0_0030.png", "nine.png": "9_0125.png", "three.jpg": "3_0103.jpg"])
    try await index.update(with: model)
    let again = try await index.update(with: model)
    #expect((again.seen, again.unchanged, again.recognized, again.dropped) == (0, 3, 0, 0))

    #expect(rename("\(folder.path)/nine.png", "\(folder.path)/neuf.png") == 0)
    #expect(unlink("\(folder.path)/three.jpg") == 0)
    put(["copy of nought.png": "0_0030.png", "seven.png": "7_0044.png"])
    let update = try await index.update(with: model)
    #expect((update.seen, update.unchanged, update.recognized, update.dropped) == (1, 1, 2, 2))
    #expect(try find("nine") == ["neuf.png"])
    #expect(try find("zero") == ["nought.png", "copy of nought.png"])
    #expect(try find("seven") == ["seven.png"])
    #expect(try find("three") == [])
    #expect(try index.duplicates().map { Set($0.paths) } == [["nought.png", "copy of nought.png"]])
  }

  @Test func canonicallyEquivalentPathsAreTwoImages() async throws {
    let model = try await Self.model()
    put(["\u{E9}.png": "0_0030.png"])
    put(["e\u{301}.png": "9_0125.png"])
    #expect(try await index.update(with: model).seen == 2)
    let again = try await index.update(with: model)
    #expect((again.seen, again.unchanged, again.dropped) == (0, 2, 0))
    #expect(unlink("\(folder.path)/e\u{301}.png") == 0)
    let last = try await index.update(with: model)
    #expect((last.unchanged, last.dropped) == (1, 1))
    #expect(try find("nine").isEmpty && (try find("zero")).count == 1)
  }

  @Test func imageWithTheNameOfAMovedOneIsRead() async throws {
    let model = try await Self.model()
    put(["a.png": "9_0125.png"])
    try await index.update(with: model)
    #expect(rename("\(folder.path)/a.png", "\(folder.path)/b.png") == 0)
    put(["a.png": "7_0044.png"])
    try await index.update(with: model)
    #expect(try find("nine") == ["b.png"])
    #expect(try find("seven") == ["a.png"])
  }

  @Test func unreadableImagesAreReportedOnce() async throws {
    let model = try await Self.model()
    put(["nine.png": "9_0125.png"])
    folder.write("no image", "text.jpg")
    folder.write(Array(TemporaryFolder.read("\(Self.images)/9_0125.png").prefix(60)), "torn.png")
    folder.write("", "empty.gif")
    let faults = Mutex<[String: String]>([:])
    let update = try await index.update(with: model) { event in
      if case .fault(let path, let reason) = event { faults.withLock { $0[path] = reason } }
    }
    #expect((update.seen, update.unreadable, update.isComplete) == (1, 3, true))
    let named = faults.withLock { $0.keys.sorted() }
    #expect(named == ["empty.gif", "text.jpg", "torn.png"])
    #expect(try index.unreadableFiles().map(\.path) == ["empty.gif", "text.jpg", "torn.png"])
    faults.withLock { $0 = [:] }
    let again = try await index.update(with: model) { event in
      if case .fault(let path, let reason) = event { faults.withLock { $0[path] = reason } }
    }
    #expect((again.seen, again.unchanged, again.unreadable) == (0, 1, 3))
    let saidAgain = faults.withLock { $0.count }
    #expect(saidAgain == 0)
    put(["torn.png": "7_0044.png"])
    #expect(try await index.update(with: model).seen == 1)
    #expect(try find("seven") == ["torn.png"])
  }

  @Test func cancelledUpdateIsContinuedByTheNext() async throws {
    let model = try await Self.model()
    let image = TemporaryFolder.read("\(Self.images)/9_0125.png")
    // Bytes after a PNG's end are not read, but make the file different.
    for number in 0..<60 { folder.write(image + Array("\(number)".utf8), "\(number).png") }
    let index = index
    let work = Mutex<Task<PhotoUpdate, any Error>?>(nil)
    let task = Task {
      try await index.update(with: model) { event in
        guard case .progress(let state) = event, state.done == 10 else { return }
        while work.withLock({ $0 }) == nil { sched_yield() }
        work.withLock { $0?.cancel() }
      }
    }
    work.withLock { $0 = task }
    let first = try await task.value
    #expect(!first.isComplete && first.seen >= 10)
    let second = try await index.update(with: model)
    #expect(second.isComplete)
    #expect(second.unchanged == first.seen)
    #expect(first.seen + second.seen == 60)
    #expect(try index.count() == 60)
  }

  @Test func similaritySearchFindsTheImageItselfFirst() async throws {
    put(["nought.png": "0_0030.png", "nine.png": "9_0125.png", "three.jpg": "3_0103.jpg"])
    try await index.update(with: try await Self.model())
    let query = PhotoQuery()
    let found = try index.search(query, like: URL(filePath: "\(Self.images)/9_0125.png")) { _ throws(VisionError) in
      throw .missingModel("an image of the index needs no model")
    }
    #expect(found.matches.first?.path == "nine.png")
    #expect(abs((found.matches.first?.score ?? 0) - 1) < 1e-3)
    // Another nine, which the index does not have.
    let model = try await Self.model()
    let other = try index.search(query, like: URL(filePath: "\(Self.images)/9_0128.png")) {
      settings throws(VisionError) in
      model
    }
    #expect(other.matches.first?.path == "nine.png")
  }

  @Test func otherModelsAndCropsAreNotMixed() async throws {
    put(["nine.png": "9_0125.png"])
    try await index.update(with: try await Self.model())
    let error = await #expect(throws: VisionError.self) {
      try await index.update(with: try await Self.model(crop: .scaleToFill))
    }
    guard case .index(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.code == .otherModel)
    var options = PhotoUpdateOptions()
    options.rebuilds = true
    #expect(try await index.update(with: try await Self.model(crop: .scaleToFill), options: options).seen == 1)
  }

  @Test func contactSheetContainsTheImages() async throws {
    put(["nine.png": "9_0125.png", "gone.png": "7_0044.png"])
    try await index.update(with: try await Self.model())
    #expect(unlink("\(folder.path)/gone.png") == 0)
    let page = try index.contactSheet(of: try index.search(PhotoQuery("nine OR seven")), title: "Nines")
    #expect(page.split(separator: "data:image/jpeg;base64,").count == 2)
    #expect(page.contains("nine.<wbr>png") && page.contains("gone.<wbr>png") && page.contains("No such file"))
  }
}

/// A model with a vector beside its classes (`Tests/Vision/models.py`).
@Suite struct PhotoVectorTests {
  private let folder = TemporaryFolder()
  private var index: PhotoIndex { PhotoIndex(folder: URL(filePath: folder.path)) }

  private static func load() async throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await Model.load(
      contentsOf: URL(filePath: "\(VisionFixture.folder)/means.onnx"), configuration: configuration)
  }

  private static func model(embedding: String? = nil) async throws -> PhotoModel {
    try PhotoModel(
      model: try await load(), labels: ["red", "green", "blue"], normalization: .unit, embedding: embedding)
  }

  /// An image of 16 × 16 whose left half has one colour and whose right half another.
  private static func halves(_ left: [UInt8], _ right: [UInt8]) throws -> PixelBuffer {
    let row = [[UInt8]](repeating: left, count: 8) + [[UInt8]](repeating: right, count: 8)
    let bytes = [[[UInt8]]](repeating: row, count: 16).flatMap { $0.flatMap { $0 } }
    return try PixelBuffer(width: 16, height: 16, format: .rgb8, bytes: bytes)
  }

  private func put(_ name: String, _ left: [UInt8], _ right: [UInt8]) throws {
    folder.write(try ImageCodec.encode(try Self.halves(left, right), as: .png), name)
  }

  private func fill() throws {
    try put("red.png", [255, 0, 0], [255, 0, 0])
    try put("red and blue.png", [255, 0, 0], [0, 0, 255])
    try put("blue and red.png", [0, 0, 255], [255, 0, 0])
    try put("green.png", [0, 255, 0], [0, 255, 0])
  }

  @Test func imagesAreComparedByTheNamedVector() async throws {
    let model = try await Self.model()
    #expect((model.embeddingFeatureName, model.embeddingCount) == ("embedding", 12))
    try fill()
    try await index.update(with: model)
    #expect(try index.search(PhotoQuery("green")).matches.first?.path == "green.png")
    let probe = folder.write(try ImageCodec.encode(try Self.halves([250, 0, 0], [0, 0, 250]), as: .png), ".probe.png")
    let found = try index.search(PhotoQuery(), like: URL(filePath: probe)) { settings throws(VisionError) in
      #expect(settings.normalization == .unit && settings.embedding == "embedding")
      #expect(settings.labels == ["red", "green", "blue"])
      return model
    }
    #expect(found.matches.prefix(2).map(\.path) == ["red and blue.png", "red.png"])
    // Two of four quarters are alike.
    let cosines: [Float] = [1, 0.5, 0, 0]
    #expect(zip(found.matches, cosines).allSatisfy { abs($0.score - $1) < 1e-5 }, "\(found.matches.map(\.score))")
    // Similarity among the results of a word search.
    let reds = try index.search(PhotoQuery("blue"), like: URL(filePath: "\(folder.path)/red.png")) {
      _ throws(VisionError) in
      throw .missingModel("")
    }
    #expect(!reds.matches.map(\.path).isEmpty)
  }

  @Test func modelWithoutClassesGivesOnlyVectors() async throws {
    let error = await #expect(throws: VisionError.self) {
      try await Self.model(embedding: "depth")
    }
    #expect(error?.description.contains("'embedding'") == true)
    let model = try PhotoModel(model: try await Self.load(), normalization: .unit)
    #expect(model.embeddingFeatureName == "embedding")
    try fill()
    try await index.update(with: model)
    #expect(try index.categories().isEmpty)
    #expect(try index.count() == 4)
  }
}
