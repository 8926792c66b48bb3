import FoundationEssentials
import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinImages
import KelvinMeasuring
import KelvinRuntime
import KelvinVideo
import KelvinVision
import Synchronization
import TestSupport
import Testing

@Suite("Analysis of videos")
struct AnalysisTests {
  private static func model() throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let url = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage")
    return try Model(contentsOf: url, configuration: configuration)
  }

  /// An image of 32 x 32 pixels whose brightness depends on its number.
  private static func image(_ number: Int) throws -> PixelBuffer {
    let bytes = (0..<32 * 32 * 3).map { UInt8(truncatingIfNeeded: ($0 &* 7) % 200 &+ number &* 5) }
    return try PixelBuffer(width: 32, height: 32, format: .rgb8, bytes: bytes)
  }

  /// Writes images, whose names are in the order of their numbers.
  private static func write(_ numbers: Range<Int>, to folder: TemporaryFolder) throws {
    for number in numbers {
      let png = try ImageCodec.encode(image(number), as: .png, name: "image")
      try Data(png).write(to: URL(filePath: "\(folder.path)/\(1000 + number).png"))
    }
  }

  /// The answers that an analysis gave, in their order.
  private final class Answers: Sendable {
    private let kept = Mutex<[VideoAnalysis.Answer]>([])
    var all: [VideoAnalysis.Answer] { kept.withLock { $0 } }
    func add(_ answer: VideoAnalysis.Answer) { kept.withLock { $0.append(answer) } }
    func frames(of source: Int) -> [Int] { all.filter { $0.source == source }.map(\.frame) }
  }

  private struct Fault: Error, Equatable {}

  @Test("a stream of a request answers what the request does, with the caller's times")
  func requests() async throws {
    let request = try ClassificationRequest(model: try Self.model())
    let stream = try await FrameStream(request, options: .init(queue: 4, buffer: 16))
    for number in 0..<6 {
      #expect(await stream.send(try Self.image(number), timestamp: .milliseconds(100 * number)))
    }
    stream.finish()
    var count = 0
    for try await answer in stream.answers {
      #expect(answer.timestamp == .milliseconds(100 * count))
      let expected = try await request.perform(on: try Self.image(count))
      #expect(try answer.result.get() == expected)
      count += 1
    }
    #expect(count == 6)
  }

  @Test("more senders than threads wait without keeping each other from being answered", .timeLimit(.minutes(1)))
  func senders() async throws {
    let request = try ClassificationRequest(model: try Self.model())
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<80 {
        group.addTask {
          let stream = try await FrameStream(request, options: .init(queue: 1, buffer: 16))
          for number in 0..<4 { #expect(await stream.send(try Self.image(number))) }
          stream.finish()
          var count = 0
          for try await _ in stream.answers { count += 1 }
          return count
        }
      }
      for try await count in group { #expect(count == 4) }
    }
  }

  @Test("a sender that is cancelled while it waits gives up, and its place is not lost")
  func cancelledSender() async throws {
    let request = try ClassificationRequest(model: try Self.model())
    let stream = try await FrameStream(request, options: .init(queue: 1, buffer: 64))
    let sender = Task {
      var sent = 0
      while await stream.send(try Self.image(sent)) { sent += 1 }
      return sent
    }
    let fourth = AsyncStream.makeStream(of: Void.self)
    let reader = Task {
      for try await answer in stream.answers where answer.number >= 3 { fourth.continuation.finish() }
    }
    for await _ in fourth.stream {}
    sender.cancel()
    let sent = try await sender.value
    for number in 0..<4 { #expect(await stream.send(try Self.image(number))) }
    stream.finish()
    try await reader.value
    #expect(stream.counts.pushed == sent + 4 && stream.counts.answered == sent + 4 && stream.counts.dropped == 0)
  }

  @Test("a file is answered with several frames at a time, in order, if that is measured to bring more")
  func framesAtOnce() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<100, to: folder)
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    configuration.threadCount = 2
    let url = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage")
    let model = try Model(contentsOf: url, configuration: configuration)
    let request = try VideoRequest(model: model)
    let analysis = try await VideoAnalysis(request, of: [try VideoSource(folder.path)])
    #expect(analysis.settings == ["as planned", "2 frames at a time"])
    let answers = Answers()
    let actions = Mutex<[FrameStreamAction]>([])
    _ = try await analysis.run(onAction: { action in actions.withLock { $0.append(action) } }) { answers.add($0) }
    #expect(answers.frames(of: 0) == Array(0..<100))
    #expect(Set(answers.all.map(\.setting)) == ["as planned", "2 frames at a time"], "both are tried")
    for answer in answers.all {
      guard case .classes(let expected) = try await request.perform(on: try Self.image(answer.frame)),
        case .classes(let classes) = try answer.result.get()
      else { throw Fault() }
      #expect(classes.first?.identifier == expected.first?.identifier)
    }
    let outcome = try #require(actions.withLock { $0 }.first)
    #expect(actions.withLock { $0 }.count == 1)
    #expect(outcome.change.hasSuffix("at a time") && outcome.cause.hasPrefix("measured "))

    let governed = VideoAnalysis.Options(stream: .init(isGoverned: true, mostFramesAtOnce: 2))
    await #expect(throws: ModelError.self) {
      _ = try await VideoAnalysis(request, of: [try VideoSource(folder.path)], options: governed)
    }
    let single = VideoAnalysis.Options(stream: .init(mostFramesAtOnce: 1))
    let one = try await VideoAnalysis(request, of: [try VideoSource(folder.path)], options: single)
    #expect(one.settings == ["as planned"])
  }

  /// A model for images of 32, 48 or 64 pixels.
  private static func flexibleModel() throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try Model(
      contentsOf: URL(filePath: "\(SharedFiles.projectRoot)/Tests/Vision/flexible.mlmodel"),
      configuration: configuration)
  }

  @Test("a governor may give a flexible model smaller images, and a model of one size keeps its size")
  func smallerInput() async throws {
    let folder = TemporaryFolder()
    for number in 0..<3 {
      let bytes = (0..<64 * 64).flatMap { pixel -> [UInt8] in [200, UInt8(pixel % 64), UInt8(number)] }
      let image = try PixelBuffer(width: 64, height: 64, format: .rgb8, bytes: bytes)
      try Data(try ImageCodec.encode(image, as: .png, name: "image")).write(
        to: URL(filePath: "\(folder.path)/\(number).png"))
    }
    let model = try Self.flexibleModel()
    let governed = VideoAnalysis.Options(
      stream: .init(isGoverned: true, simulatedHeat: .init(envelope: "phone", speed: 60)))
    let analysis = try await VideoAnalysis(
      try VideoRequest(model: model), of: [try VideoSource(folder.path)], options: governed)
    #expect(analysis.settings.contains { $0.hasPrefix("input 32 x 32") }, "\(analysis.settings)")
    let fixed = try await VideoAnalysis(
      try VideoRequest(model: try Self.model()), of: [try VideoSource(folder.path)], options: governed)
    #expect(!fixed.settings.contains { $0.contains("input") }, "\(fixed.settings)")
    // The outputs of a model may have other sizes for other images.
    let plain = try await FrameStream(model, options: governed.stream)
    #expect(!plain.settings.contains { $0.contains("input") }, "\(plain.settings)")
  }

  @Test("a request up to a size sees the whole image in that size")
  func limitedRequest() throws {
    let bytes = (0..<64 * 64).flatMap { pixel -> [UInt8] in [pixel % 64 < 32 ? 250 : 10, UInt8(pixel % 64), 60] }
    let image = try PixelBuffer(width: 64, height: 64, format: .rgb8, bytes: bytes)
    let request = try ClassificationRequest(model: try Self.flexibleModel())
    let whole = try request.result(of: image, orientation: .up, nil)
    #expect(request.model.predictor.specializationCounts.compilations == 0)
    let limited = request.running(request.model.predictor, upTo: .init(width: 48, height: 48))
    let small = try limited.result(of: image, orientation: .up, nil)
    #expect(request.model.predictor.specializationCounts.compilations == 1, "48 x 48 is another size of the graph")
    #expect(small.map(\.identifier) == whole.map(\.identifier))
    for (a, b) in zip(small, whole) { #expect(abs(a.confidence - b.confidence) < 0.02) }
    #expect(try request.result(of: image, orientation: .up, nil) == whole)
  }

  @Test("a smaller map of a flexible segmenter covers the whole image", arguments: [(64, 64), (48, 48), (30, 40)])
  func limitedMap(width: Int, height: Int) throws {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try Model(
      contentsOf: URL(filePath: "\(SharedFiles.projectRoot)/Tests/Vision/flexible_segmenter.mlmodel"),
      configuration: configuration)
    // Red on the left, blue on the right, and green in the lowest quarter.
    let bytes = (0..<width * height).flatMap { pixel -> [UInt8] in
      if pixel / width >= height - height / 4 { return [0, 250, 0] }
      return pixel % width < width / 2 ? [250, 0, 0] : [0, 0, 250]
    }
    let image = try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
    let request = try SegmentationRequest(model: model)
    for size in [64, 48, 32] {
      let limited = request.running(model.predictor, upTo: .init(width: size, height: size))
      let map = try limited.result(of: image, orientation: .up, nil).labelMap
      #expect(map.count == width * height)
      let places: [(Int, Int, UInt8)] = [(1, 1, 0), (width - 2, 1, 2), (1, height - 2, 1), (width - 2, height - 2, 1)]
      for (x, y, expected) in places { #expect(map[y * width + x] == expected, "\(size): \(x), \(y)") }
    }
  }

  @Test("streams that share a request are answered in turns, each in its order")
  func sharedStreams() async throws {
    let request = try ClassificationRequest(model: try Self.model())
    let streams = try await FrameStream.streams(3, of: request, options: .init(queue: 8, buffer: 16))
    for number in 0..<5 { for stream in streams { #expect(stream.push(try Self.image(number))) } }
    for stream in streams { stream.finish() }
    for stream in streams {
      var numbers: [Int] = []
      for try await answer in stream.answers { numbers.append(answer.number) }
      #expect(numbers == Array(0..<5))
    }
  }

  @Test("a governor for a request of another type is refused, and a stream without one is not")
  func otherRequests() async throws {
    struct Brightness: ImageProcessingRequest {
      var regionOfInterest = NormalizedRect.fullImage
      func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> Int {
        Int(image.bytes[0])
      }
      func perform(on image: PixelBuffer, orientation: ImageOrientation) async throws(VisionError) -> Int {
        Int(image.bytes[0])
      }
    }
    let error = await #expect(throws: ModelError.self) {
      _ = try await FrameStream(Brightness(), options: .init(isGoverned: true))
    }
    #expect(error?.description.contains("Brightness") == true, "\(String(describing: error))")
    let stream = try await FrameStream(Brightness())
    stream.push(try Self.image(2))
    stream.finish()
    for try await answer in stream.answers { #expect(try answer.result.get() == 10) }
  }

  @Test("every image of a folder is answered, in order, with its time")
  func everyFrame() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<12, to: folder)
    var options = VideoSource.Options()
    options.imagesPerSecond = 25
    let request = try VideoRequest(model: try Self.model())
    #expect(request.kind == .classification)
    let source = try VideoSource(folder.path, options: options)
    let analysis = try await VideoAnalysis(request, of: [source])
    let answers = Answers()
    let outcomes = try await analysis.run { answers.add($0) }
    #expect(answers.frames(of: 0) == Array(0..<12))
    #expect(answers.all.map(\.time) == (0..<12).map { .milliseconds(40 * $0) })
    for answer in answers.all {
      guard case .classes(let classes) = try answer.result.get() else { throw Fault() }
      let expected = try await ClassificationRequest(model: request.model).perform(on: Self.image(answer.frame))
      #expect(classes == expected)
      #expect(answer.size == ImageSize(width: 32, height: 32) && answer.image == nil)
    }
    #expect(outcomes.map(\.counts.answered) == [12] && outcomes[0].counts.dropped == 0 && outcomes[0].error == nil)
  }

  @Test(
    "answers to the part of a frame that the request reads are those to the whole frame",
    .enabled(if: Clips.isAvailable, "\(Clips.reason)"),
    arguments: Tier.some(2, of: ["160x90", "90x160", "turned", "167x91", "64x64"]))
  func partOfFrames(size: String) async throws {
    let folder = TemporaryFolder()
    let source = Clips.source("testsrc2=s=\(size == "turned" ? "160x90" : size):r=10:d=1.2")
    var path = Clips.make(folder, "clip.mp4", source, "-c:v mpeg4 -pix_fmt yuv420p")
    if size == "turned" { path = Clips.make(folder, "turned.mp4", "-i \(path) -c copy -metadata:s:v:0 rotate=90") }
    let request = try VideoRequest(model: try Self.model())
    var all: [[[ClassificationObservation]]] = []
    for keepsImages in [false, true] {
      let source = try VideoSource(path)
      let options = VideoAnalysis.Options(stream: .init(keepsImages: keepsImages, mostFramesAtOnce: 1))
      let analysis = try await VideoAnalysis(request, of: [source], options: options)
      let answers = Answers()
      let outcomes = try await analysis.run { answers.add($0) }
      #expect(outcomes[0].error == nil && answers.frames(of: 0) == Array(0..<12))
      #expect(answers.all.allSatisfy { ($0.image != nil) == keepsImages })
      let sizes = Set(answers.all.map(\.size))
      #expect(sizes == [ImageSize(width: source.facts.uprightWidth, height: source.facts.uprightHeight)])
      all.append(
        try answers.all.map { answer in
          guard case .classes(let classes) = try answer.result.get() else { throw Fault() }
          return classes
        })
    }
    #expect(all[0] == all[1])
  }

  @Test("several sources are answered to their ends, and an unreadable one does not end the others")
  func severalSources() async throws {
    let (folder, damaged) = (TemporaryFolder(), TemporaryFolder())
    try Self.write(0..<9, to: folder)
    try Self.write(0..<3, to: damaged)
    try Data("not an image".utf8).write(to: URL(filePath: "\(damaged.path)/1002.png"))
    let request = try VideoRequest(model: try Self.model())
    let sources = try [folder, damaged].map { try VideoSource($0.path) }
    let answers = Answers()
    let analysis = try await VideoAnalysis(request, of: sources)
    let outcomes = try await analysis.run { answers.add($0) }
    #expect(answers.frames(of: 0) == Array(0..<9))
    #expect(answers.frames(of: 1).starts(with: [0, 1]))
    #expect(outcomes[0].error == nil)
    #expect(outcomes[1].error != nil || !outcomes[1].remarks.isEmpty)
    let text = analysis.record.text(width: 80)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
    #expect(text.contains("9 frames, 9 answered"))
  }

  @Test("no frame of a file is left out for a deadline, which counts from the beginning of its prediction")
  func deadlineOfAFile() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<20, to: folder)
    let request = try VideoRequest(model: try Self.model())
    for (deadline, isLate) in [(Duration.nanoseconds(1), true), (.seconds(60), false)] {
      let answers = Answers()
      let analysis = try await VideoAnalysis(
        request, of: [try VideoSource(folder.path)], options: .init(stream: .init(queue: 8, deadline: deadline)))
      let outcomes = try await analysis.run { answers.add($0) }
      #expect(answers.frames(of: 0) == Array(0..<20) && outcomes[0].counts.tooLate == 0)
      #expect(answers.all.allSatisfy { $0.isLate == isLate && $0.latency == $0.service })
      #expect(analysis.record.text(width: 80).contains("20 answered after the deadline") == isLate)
    }
  }

  @Test("a limit of frames ends each source after so many answers")
  func frameLimit() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<9, to: folder)
    let request = try VideoRequest(model: try Self.model())
    let answers = Answers()
    let analysis = try await VideoAnalysis(
      request, of: [try VideoSource(folder.path)], options: .init(frameLimit: 4))
    let outcomes = try await analysis.run { answers.add($0) }
    #expect(answers.frames(of: 0) == Array(0..<4) && outcomes[0].error == nil)
  }

  @Test("an error of the receiver ends the analysis, and is thrown")
  func receiverError() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<40, to: folder)
    let request = try VideoRequest(model: try Self.model())
    let analysis = try await VideoAnalysis(request, of: [try VideoSource(folder.path)])
    let answers = Answers()
    await #expect(throws: Fault.self) {
      try await analysis.run { answer in
        answers.add(answer)
        if answer.frame == 2 { throw Fault() }
      }
    }
    #expect(answers.frames(of: 0) == [0, 1, 2])
  }

  @Test("a cancelled analysis returns the answers so far without an error")
  func cancelled() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<60, to: folder)
    let request = try VideoRequest(model: try Self.model())
    let analysis = try await VideoAnalysis(request, of: [try VideoSource(folder.path)])
    let answers = Answers()
    let outcomes = try await analysis.run { answer in
      answers.add(answer)
      if answer.frame == 2 { analysis.cancel() }
    }
    let frames = answers.frames(of: 0)
    #expect(frames == Array(0..<frames.count) && frames.count >= 3 && frames.count < 60)
    #expect(outcomes[0].error == nil && outcomes[0].counts.answered == frames.count)
  }

  @Test("the record has the counts, latencies and steps as JSON")
  func recordDocument() async throws {
    let folder = TemporaryFolder()
    try Self.write(0..<5, to: folder)
    let request = try VideoRequest(model: try Self.model())
    let analysis = try await VideoAnalysis(request, of: [try VideoSource(folder.path)])
    _ = try await analysis.run { _ in }
    struct Document: Decodable {
      struct Source: Decodable {
        struct Latency: Decodable { var median, p95, longest: Double }
        struct Seen: Decodable { var identifier: String, frames: Int }
        var answered, frames, dropped: Int
        var seen: [Seen]
        var latency: Latency
      }
      var format: String
      var sources: [Source]
    }
    let document = try JSONDecoder().decode(Document.self, from: try analysis.record.json())
    let source = try #require(document.sources.first)
    #expect(document.format == "kelvin-stream" && source.answered == 5 && source.frames == 5 && source.dropped == 0)
    #expect(
      source.seen.reduce(0) { $0 + $1.frames } == 5 && Set(source.seen.map(\.identifier)).count == source.seen.count)
    #expect(source.latency.median > 0 && source.latency.median <= source.latency.longest * 1.01)
    #expect(try analysis.htmlReport().contains("Digits.mlpackage"))
  }

  @Test("an image drawn on with any observations keeps its upright size")
  func drawings() throws {
    let bytes = [UInt8](repeating: 90, count: 64 * 48 * 3)
    let image = try PixelBuffer(width: 64, height: 48, format: .rgb8, bytes: bytes)
    let box = RecognizedObjectObservation(
      labels: [.init(identifier: "bottle", confidence: 0.9)],
      boundingBox: NormalizedRect(x: 0.2, y: 0.2, width: 0.5, height: 0.5))
    var object = TrackedObject(box)
    object.id = 3
    let pose = HumanBodyPoseObservation(
      joints: [.nose: Joint(jointName: "nose", location: NormalizedPoint(x: 0.5, y: 0.5), confidence: 1)],
      confidence: 1)
    for observations in [
      VideoObservations.classes(box.labels), .objects([object]), .objects([]), .poses([TrackedPose(pose)]),
    ] {
      let drawn = try image.drawing(observations, orientation: .right)
      #expect((drawn.width, drawn.height) == (48, 64))
    }
    #expect(try image.drawing(.objects([object])) != image.drawing(.objects([TrackedObject(box)])))
  }
}
