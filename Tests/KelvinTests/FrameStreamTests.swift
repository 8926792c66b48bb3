import Dispatch
import FoundationEssentials
import Kelvin
import KelvinMeasuring
import TestSupport
import Testing

/// The public stream as a camera's program uses it.
@Suite("Public frame streams") struct FrameStreamTests {
  /// A frame whose features are there only once its gate is open: until then it keeps the worker.
  private struct GatedFrame: FeatureProvider {
    let frame: DictionaryFeatureProvider
    let begun = DispatchSemaphore(value: 0)
    let gate = DispatchSemaphore(value: 0)

    var featureNames: Set<String> { frame.featureNames }

    func featureValue(for featureName: String) -> FeatureValue? {
      begun.signal()
      gate.wait()
      gate.signal()
      return frame.featureValue(for: featureName)
    }
  }

  private static func model() throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try Model(contentsOf: URL(filePath: ModelFixture.digitsPackage), configuration: configuration)
  }

  private static func image(_ model: Model) throws -> PixelBuffer {
    let size = try #require(model.modelDescription.inputDescriptionsByName.values.first?.imageConstraint)
    let bytes = (0..<size.pixelsWide * size.pixelsHigh * 3).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    return try PixelBuffer(width: size.pixelsWide, height: size.pixelsHigh, format: .rgb8, bytes: bytes)
  }

  private static func frame(_ model: Model) throws -> DictionaryFeatureProvider {
    let name = try #require(model.modelDescription.inputNames.first)
    return DictionaryFeatureProvider(dictionary: [name: FeatureValue(pixelBuffer: try image(model))])
  }

  private func isSettled(_ counts: FrameStreamCounts) -> Bool {
    counts.pushed == counts.skipped + counts.dropped + counts.tooLate + counts.answered + counts.abandoned
      + counts.pending
  }

  @Test("frames are answered in order, with what a prediction gives, until the stream is finished")
  func answers() async throws {
    let model = try Self.model()
    let expected = try await model.prediction(from: Self.frame(model))
    let stream = try await FrameStream(model, options: .init(queue: 32, buffer: 32))
    for index in 0..<12 {
      #expect(index.isMultiple(of: 2) ? stream.push(try Self.frame(model)) : stream.push(try Self.image(model)))
    }
    stream.finish()
    #expect(!stream.push(try Self.frame(model)))
    var numbers: [Int] = []
    for try await answer in stream.answers {
      numbers.append(answer.number)
      #expect(try answer.features() == expected)
      #expect(answer.arrival <= answer.start && answer.start <= answer.end && !answer.isLate)
      #expect(answer.setting == "as planned")
    }
    #expect(numbers == Array(0..<12))
    #expect(stream.counts.answered == 12 && isSettled(stream.counts))
    #expect(stream.settings == ["as planned"])
  }

  @Test("the newest wins: while a frame is answered only the latest arrival waits")
  func newest() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model)
    let held = GatedFrame(frame: try Self.frame(model))
    stream.push(held)
    held.begun.wait()
    for _ in 0..<5 { stream.push(try Self.frame(model)) }
    #expect(stream.counts.dropped == 4 && stream.counts.pending == 2 && isSettled(stream.counts))
    held.gate.signal()
    stream.finish()
    var numbers: [Int] = []
    for try await answer in stream.answers { numbers.append(answer.number) }
    #expect(numbers == [0, 5])
  }

  @Test("a sender that waits loses no frame, and no more frames are held than may wait and one")
  func sending() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model, options: .init(queue: 2, buffer: 64))
    for index in 0..<20 {
      #expect(await stream.send(try Self.image(model), timestamp: .milliseconds(40 * index)))
      #expect(stream.counts.pending <= 3)
    }
    stream.finish()
    var times: [Duration?] = []
    for try await answer in stream.answers { times.append(answer.timestamp) }
    #expect(times == (0..<20).map { .milliseconds(40 * $0) })
    #expect(stream.counts.dropped == 0)
    #expect(await !stream.send(try Self.image(model)), "the stream is over")
  }

  @Test("a sender that waits for room is let go when the stream is cancelled")
  func cancelledSender() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model)
    let held = GatedFrame(frame: try Self.frame(model))
    stream.push(held)
    held.begun.wait()
    let image = try Self.image(model)
    #expect(await stream.send(image))
    let sender = Task { await stream.send(image) }
    stream.cancel()
    #expect(await !sender.value)
    held.gate.signal()
  }

  @Test("every reader gets every answer")
  func readers() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model, options: .init(queue: 8, buffer: 8))
    func numbers() async throws -> [Int] {
      var numbers: [Int] = []
      for try await answer in stream.answers { numbers.append(answer.number) }
      return numbers
    }
    async let first = numbers()
    async let second = numbers()
    for _ in 0..<5 { stream.push(try Self.frame(model)) }
    stream.finish()
    #expect(try await first == Array(0..<5))
    #expect(try await second == Array(0..<5))
  }

  @Test("a reader that leaves does not end the stream of the others")
  func leavingReader() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model, options: .init(queue: 8, buffer: 8))
    var staying = stream.answers.makeAsyncIterator()
    stream.push(try Self.frame(model))
    for try await answer in stream.answers where answer.number == 0 { break }
    #expect(stream.push(try Self.frame(model)))
    stream.finish()
    #expect(try await staying.next()?.number == 0)
    #expect(try await staying.next()?.number == 1)
    #expect(try await staying.next() == nil)
  }

  @Test("answers hold their images only if asked for")
  func images() async throws {
    let model = try Self.model()
    for keeps in [false, true] {
      let stream = try await FrameStream(model, options: .init(keepsImages: keeps))
      let image = try Self.image(model)
      stream.push(image)
      stream.finish()
      for try await answer in stream.answers { #expect(answer.image == (keeps ? image : nil)) }
    }
  }

  @Test("simulated heat of a phone makes the governor step, and the step says what it brought")
  func simulatedHeat() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(
      model,
      options: .init(
        queue: 1, buffer: 1000, isGoverned: true, framesPerSecond: 2000,
        simulatedHeat: .init(envelope: "phone", speed: 600)))
    let image = try Self.image(model)
    var iterator = stream.actions.makeAsyncIterator()
    let pushing = Task {
      while !Task.isCancelled, await stream.send(image) {}
      stream.finish()
    }
    let action = try #require(await iterator.next())
    #expect(action.cause.contains("heat is") && action.cause.contains(" W"), "\(action)")
    pushing.cancel()
    await pushing.value
  }

  @Test("an error is the answer of its frame alone")
  func errors() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model, options: .init(queue: 4))
    stream.push(DictionaryFeatureProvider(dictionary: [:]))
    stream.push(try Self.frame(model))
    stream.finish()
    var codes: [ModelError.Code?] = []
    for try await answer in stream.answers {
      do {
        _ = try answer.features()
        codes.append(nil)
      } catch { codes.append(error.code) }
    }
    #expect(codes == [.featureType, nil])
  }

  @Test("unread results are bounded: the newest are kept and the others counted")
  func unread() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model, options: .init(queue: 8, buffer: 2))
    for _ in 0..<6 { stream.push(try Self.frame(model)) }
    stream.finish()
    // The actions end when everything is answered.
    for await _ in stream.actions {}
    var numbers: [Int] = []
    for try await answer in stream.answers { numbers.append(answer.number) }
    #expect(numbers == [4, 5])
    #expect(stream.counts.unread == 4)
  }

  @Test("cancelling the reading task ends the stream")
  func cancelledReader() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(model)
    let held = GatedFrame(frame: try Self.frame(model))
    stream.push(held)
    held.begun.wait()
    stream.push(try Self.frame(model))
    let reader = Task { for try await _ in stream.answers {} }
    reader.cancel()
    try await reader.value
    #expect(!stream.push(try Self.frame(model)))
    #expect(stream.counts.abandoned == 1 && stream.counts.pending == 1 && isSettled(stream.counts))
    held.gate.signal()
  }

  @Test("a released or cancelled stream ends its results")
  func letGo() async throws {
    let model = try Self.model()
    var stream: FrameStream<DictionaryFeatureProvider>? = try await FrameStream(model)
    let held = GatedFrame(frame: try Self.frame(model))
    stream?.push(held)
    held.begun.wait()
    let answers = try #require(stream?.answers)
    stream = nil
    for try await _ in answers { Issue.record("nothing is delivered after the end") }
    held.gate.signal()

    let cancelled = try await FrameStream(model)
    cancelled.cancel()
    for try await _ in cancelled.answers {}
    #expect(!cancelled.push(try Self.frame(model)))
  }

  @Test("a governed stream lists its steps and begins as planned")
  func governed() async throws {
    let model = try Self.model()
    let stream = try await FrameStream(
      model, options: .init(isGoverned: true, framesPerSecond: 30, thermalEnvelope: "phone"))
    #expect(stream.settings.first == "as planned, 100 % of the frames")
    #expect(stream.settings.last == "any of these plans, 5 % of the frames or more", "\(stream.settings)")
    stream.push(try Self.frame(model))
    stream.finish()
    for try await answer in stream.answers { #expect(answer.setting == "as planned") }
  }

  @Test("invalid options are refused with their reason")
  func refused() async throws {
    let model = try Self.model()
    for (options, part) in [
      (FrameStreamOptions(queue: 0), "queue"), (.init(buffer: 0), "buffer"), (.init(deadline: .zero), "deadline"),
      (.init(framesPerSecond: -1), "framesPerSecond"), (.init(isGoverned: true, thermalEnvelope: "toaster"), "toaster"),
      (.init(maximumWatts: 5), "isGoverned"), (.init(isGoverned: true, maximumWatts: -1), "maximumWatts"),
      (.init(isGoverned: true, simulatedHeat: .init(envelope: "phone", speed: 0)), "speed"),
    ] {
      let error = await #expect(throws: ModelError.self) { _ = try await FrameStream(model, options: options) }
      #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }
  }
}
