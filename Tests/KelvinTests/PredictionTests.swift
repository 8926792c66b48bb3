import FoundationEssentials
import Kelvin
import Synchronization
import TestSupport
import Testing

/// Flexible shapes, batches, backings and cancellation in the public API.
@Suite struct PredictionTests {
  private func model(
    _ units: ComputeUnits = .cpuOnly, _ reshape: OptimizationHints.ReshapeFrequency = .frequent
  ) throws -> Model {
    var configuration = ModelConfiguration(computeUnits: units)
    configuration.usesCache = false
    configuration.optimizationHints.reshapeFrequency = reshape
    configuration.inputShapes = ["x": [1, 3, 32, 32]]
    return try Model(contentsOf: URL(filePath: FlexibleNetwork.path), configuration: configuration)
  }

  /// Noise, the same for the same seed.
  private func images(_ count: Int, seed: Int = 0, size: Int = 32) throws -> MultiArray {
    let array = try MultiArray(shape: [count, 3, size, size], dataType: .float32)
    array.withUnsafeMutableBufferPointer(ofType: Float.self) { elements, _ in
      for index in elements.indices { elements[index] = Float((index &* 7919 &+ seed &* 104_729) % 256) / 256 }
    }
    return array
  }

  private func features(_ model: Model, _ array: MultiArray) throws -> DictionaryFeatureProvider {
    let name = try #require(model.modelDescription.inputNames.first)
    return DictionaryFeatureProvider(dictionary: [name: FeatureValue(multiArray: array)])
  }

  private func output(_ outputs: any FeatureProvider, of model: Model) throws -> MultiArray {
    let name = try #require(model.modelDescription.outputNames.first)
    return try #require(outputs.featureValue(for: name)?.multiArrayValue)
  }

  private func blockingOutput(_ input: DictionaryFeatureProvider, of model: Model) throws -> MultiArray {
    try output(model.prediction(from: input), of: model)
  }

  private func blockingOutputs(_ batch: ArrayBatchProvider, of model: Model) throws -> ArrayBatchProvider {
    try model.predictions(fromBatch: batch)
  }

  @Test func everyBatchSizeGivesTheSameRows() throws {
    let model = try model()
    let rows = try (1...12).map { count in
      try output(model.prediction(from: features(model, images(count))), of: model).floats
    }
    for count in 1...12 {
      #expect(rows[count - 1].count == count * 10)
      for (a, b) in zip(rows[count - 1], rows[11]) { #expect(abs(a - b) < 1e-4) }
    }
    // Evicted sizes are compiled again.
    #expect(try output(model.prediction(from: features(model, images(2))), of: model).floats == rows[1])
  }

  @Test func memoryStaysFlatWhileSizesChange() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      let tests = PredictionTests()
      let model = try tests.model(.cpuOnly, .infrequent)
      func round() throws {
        for size in 20..<60 { _ = try model.prediction(from: tests.features(model, tests.images(2, size: size))) }
      }
      try round()
      let settled = process.residentByteCount
      for _ in 0..<2 { try round() }
      let growth = process.residentByteCount - settled
      #expect(growth < 48 << 20, "memory grew by \(growth) bytes over 80 more sizes")
    }
  }

  @Test func batchesKeepTheirOrder() async throws {
    let model = try model()
    let items = try (0..<20).map { try features(model, images(1 + $0 % 3, seed: $0)) }
    let expected = try items.map { try blockingOutput($0, of: model) }
    let batch = ArrayBatchProvider(array: items)
    let outputs = try blockingOutputs(batch, of: model)
    let later = try await model.predictions(from: batch, options: PredictionOptions())
    #expect(outputs.count == items.count)
    for index in items.indices {
      #expect(try output(outputs.features(at: index), of: model) == expected[index], "item \(index)")
      #expect(try output(later.features(at: index), of: model) == expected[index], "item \(index)")
    }
    #expect(try await model.predictions(fromBatch: ArrayBatchProvider(array: [])).count == 0)
  }

  @Test func firstFailingItemIsNamed() throws {
    let model = try model()
    var items: [any FeatureProvider] = try (0..<12).map { try features(model, images(1, seed: $0)) }
    items[5] = DictionaryFeatureProvider(dictionary: ["nonsense": FeatureValue(double: 1)])
    items[9] = DictionaryFeatureProvider(dictionary: [:])
    for _ in 0..<5 {
      let error = #expect(throws: ModelError.self) {
        try model.predictions(fromBatch: ArrayBatchProvider(array: items))
      }
      #expect(error?.code == .featureType)
      #expect(error?.description.hasPrefix("item 5: the model has no input 'nonsense'") == true)
    }
    #expect(throws: ModelError.self) {
      try ArrayBatchProvider(dictionary: ["a": [FeatureValue(double: 1)], "b": []])
    }
  }

  @Test func concurrentBatchesDoNotDeadlock() async throws {
    let model = try model()
    let batch = ArrayBatchProvider(array: try (0..<8).map { try features(model, images(1, seed: $0)) })
    let expected = try output(blockingOutputs(batch, of: model).features(at: 7), of: model)
    try await withThrowingTaskGroup(of: ArrayBatchProvider.self) { group in
      for _ in 0..<40 { group.addTask { try await model.predictions(fromBatch: batch) } }
      for try await outputs in group { #expect(try output(outputs.features(at: 7), of: model) == expected) }
    }
  }

  @Test(arguments: ModelFixture.fastDevices) func outputsAreWrittenIntoBackings(device: String) throws {
    let model = try model(.devices([device]))
    let name = try #require(model.modelDescription.outputNames.first)
    let backing = try MultiArray(shape: [1, 10], dataType: .float32)
    var options = PredictionOptions()
    options.outputBackings = [name: .multiArray(backing), "no such output": .multiArray(backing)]
    for seed in 0..<4 {
      let input = try features(model, images(1, seed: seed))
      let expected = try output(model.prediction(from: input), of: model)
      let written = try output(model.prediction(from: input, options: options), of: model)
      #expect(written === backing)
      #expect(expected !== backing && expected == backing, "seed \(seed)")
    }
    // Strides of the caller.
    let spread = try MultiArray(shape: [1, 10], dataType: .float32, strides: [40, 3])
    options.outputBackings = [name: .multiArray(spread)]
    let input = try features(model, images(1, seed: 9))
    let expected = try output(model.prediction(from: input), of: model)
    #expect(try output(model.prediction(from: input, options: options), of: model) === spread)
    #expect(spread == expected)
  }

  @Test func arraysOverOneBufferAreOneBacking() throws {
    let model = try model()
    let name = try #require(model.modelDescription.outputNames.first)
    let input = try features(model, images(1))
    let expected = try output(model.prediction(from: input), of: model)
    let place = UnsafeMutableRawPointer.allocate(byteCount: 40, alignment: 64)
    defer { place.deallocate() }
    final class Box: Sendable { let released = Mutex(0) }
    let box = Box()
    for _ in 0..<20 {
      place.initializeMemory(as: UInt8.self, repeating: 0, count: 40)
      let backing = try MultiArray(dataPointer: place, shape: [1, 10], dataType: .float32) { _ in
        box.released.withLock { $0 += 1 }
      }
      var options = PredictionOptions()
      options.outputBackings = [name: .multiArray(backing)]
      #expect(try output(model.prediction(from: input, options: options), of: model) === backing)
      #expect(backing == expected)
    }
    // The session that writes there keeps the array that it was made for.
    #expect(box.released.withLock { $0 } == 19)
  }

  private func copy(_ source: MultiArray, to target: MultiArray) {
    target.withUnsafeMutableBufferPointer(ofType: Float.self) { elements, _ in
      source.withUnsafeBufferPointer(ofType: Float.self) { given in
        for index in elements.indices { elements[index] = given[index] }
      }
    }
  }

  /// Large arrays that are given again are read in place: predictions see their changes, and never change them.
  @Test func inputsThatAreGivenAgainAreReadInPlace() throws {
    let model = try model()
    let input = try images(12)
    for seed in 0..<5 {
      let wanted = try images(12, seed: seed)
      copy(wanted, to: input)
      let expected = try output(model.prediction(from: features(model, wanted)), of: model)
      #expect(try output(model.prediction(from: features(model, input)), of: model) == expected, "seed \(seed)")
      #expect(input == wanted)
    }
  }

  /// A caller may have few arrays and wait for the release of one.
  @Test func noInputOutlivesItsPrediction() throws {
    let model = try model()
    let source = try images(12)
    let expected = try output(model.prediction(from: features(model, source)), of: model)
    let place = UnsafeMutableRawPointer.allocate(byteCount: 12 * 3 * 32 * 32 * 4, alignment: 64)
    defer { place.deallocate() }
    final class Box: Sendable { let released = Mutex(0) }
    let box = Box()
    for count in 1...6 {
      do {
        let array = try MultiArray(dataPointer: place, shape: [12, 3, 32, 32], dataType: .float32) { _ in
          box.released.withLock { $0 += 1 }
        }
        copy(source, to: array)
        #expect(try output(model.prediction(from: features(model, array)), of: model) == expected)
      }
      #expect(box.released.withLock { $0 } == count)
    }
  }

  @Test func resultsMayReplaceTheirInputs() throws {
    let model = try model()
    let name = try #require(model.modelDescription.outputNames.first)
    let (input, wanted) = (try images(12), try images(12))
    let expected = try output(model.prediction(from: features(model, wanted)), of: model)
    let place = try #require(input.dataPointer)
    let backing = try MultiArray(dataPointer: place, shape: [12, 10], dataType: .float32) { _ in }
    var options = PredictionOptions()
    options.outputBackings = [name: .multiArray(backing)]
    for _ in 0..<4 {
      copy(wanted, to: input)
      #expect(try output(model.prediction(from: features(model, input), options: options), of: model) === backing)
      #expect(backing == expected)
    }
  }

  @Test func unsuitableBackingsAreRefused() throws {
    let model = try model()
    let name = try #require(model.modelDescription.outputNames.first)
    let input = try features(model, images(1))
    func refusal(_ backing: OutputBacking) -> String {
      var options = PredictionOptions()
      options.outputBackings = [name: backing]
      let error = #expect(throws: ModelError.self) { try model.prediction(from: input, options: options) }
      #expect(error?.code == .featureType)
      return error?.description ?? ""
    }
    #expect(try refusal(.multiArray(MultiArray(shape: [1, 11], dataType: .float32))).contains("float32[1x11]"))
    #expect(try refusal(.multiArray(MultiArray(shape: [1, 10], dataType: .float64))).contains("float32[1x10]"))
    #expect(try refusal(.pixelBuffer(PixelBacking(width: 2, height: 5, format: .gray8))).contains("an image"))
  }

  /// Cancels a task when it is asked for a value: the prediction is then under way, and has not run.
  private struct Canceller: FeatureProvider {
    let inner: DictionaryFeatureProvider
    let task = Box()

    final class Box: Sendable {
      let task = Mutex<Task<DictionaryFeatureProvider, any Error>?>(nil)
    }

    var featureNames: Set<String> { inner.featureNames }
    func featureValue(for name: String) -> FeatureValue? {
      while true {
        if let task = task.task.withLock({ $0 }) {
          task.cancel()
          return inner.featureValue(for: name)
        }
      }
    }
  }

  @Test(arguments: ModelFixture.fastDevices)
  func cancelledPredictionLeavesTheModelUsable(device: String) async throws {
    let model = try model(.devices([device]))
    let input = try features(model, images(1))
    let expected = try output(await model.prediction(from: input), of: model)
    for _ in 0..<8 {
      let canceller = Canceller(inner: input)
      let task = Task { () async throws -> DictionaryFeatureProvider in try await model.prediction(from: canceller) }
      canceller.task.task.withLock { $0 = task }
      let error = await #expect(throws: ModelError.self) { try await task.value }
      #expect(error?.code == .predictionCancelled)
      #expect(try output(await model.prediction(from: input), of: model) == expected)
    }
  }

  @Test func waitingPredictionsEndWithTheirTask() async throws {
    let model = try model()
    let input = try features(model, images(16))
    let tasks = (0..<200).map { _ in
      Task { () async throws -> DictionaryFeatureProvider in try await model.prediction(from: input) }
    }
    for task in tasks.reversed() { task.cancel() }
    for task in tasks {
      do { _ = try await task.value } catch let error as ModelError { #expect(error.code == .predictionCancelled) }
    }
    _ = try await model.prediction(from: input)
  }

  @Test func providersMayPredictWhileBeingRead() throws {
    struct Nested: FeatureProvider {
      let model: Model
      let inner: DictionaryFeatureProvider
      var featureNames: Set<String> { inner.featureNames }
      func featureValue(for name: String) -> FeatureValue? {
        (try? model.prediction(from: inner)).flatMap { _ in inner.featureValue(for: name) }
      }
    }
    let model = try model()
    let input = try features(model, images(1))
    let batch = ArrayBatchProvider(array: Array(repeating: Nested(model: model, inner: input), count: 40))
    #expect(try model.predictions(fromBatch: batch).count == 40)
  }

  @Test func dictionariesWithLiteralsAreFeatures() throws {
    let literals: [String: FeatureValue] = ["count": 2, "size": 1.5, "name": "x"]
    #expect(literals.featureNames == ["count", "size", "name"])
    #expect(literals.featureValue(for: "count")?.int64Value == 2)
    #expect(literals.featureValue(for: "size")?.doubleValue == 1.5)
    #expect(literals.featureValue(for: "name")?.stringValue == "x")
    #expect(literals.featureValue(for: "other") == nil)
    let model = try model()
    let noise = try images(1)
    let name = try #require(model.modelDescription.inputNames.first)
    let inDictionary = try output(model.prediction(from: [name: FeatureValue(multiArray: noise)]), of: model)
    #expect(try inDictionary == blockingOutput(features(model, noise), of: model))
    let error = #expect(throws: ModelError.self) { try model.prediction(from: ["x": 1.5]) }
    #expect(error?.code == .featureType)
  }

  @Test func valueOfAnotherTypeIsNil() {
    let text = FeatureValue(string: "7")
    #expect(text.int64Value == nil && text.doubleValue == nil && text.dictionaryValue == nil)
    #expect(FeatureValue(int64: 7).stringValue == nil && FeatureValue(int64: 7).doubleValue == nil)
  }
}
