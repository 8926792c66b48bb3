import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinImages
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// Several models on several devices in one process, from several tasks at once, some of them cancelled, models that
/// are loaded and released meanwhile, and devices that fail. Results must be equal; memory, descriptors and threads
/// must be as many at the end as at half time.
///
/// `KELVIN_SOAK` is the duration in seconds (dev/soak.sh), `KELVIN_SOAK_SEED` selects the faults; a short run is part
/// of the suite.
@Suite(.serialized) struct SoakTests {
  private static let variables = ProcessInfo.processInfo.environment
  static let seconds = variables["KELVIN_SOAK"].flatMap { Double($0) }
  static let seed = variables["KELVIN_SOAK_SEED"].flatMap { UInt64($0) } ?? 1

  /// A model on a device, an input and its result.
  private struct Subject: Sendable {
    let label: String
    let path: String
    let configuration: ModelConfiguration
    let model: Model
    let input: DictionaryFeatureProvider
    let expected: DictionaryFeatureProvider

    init(_ path: String, _ device: String, shape: [Int]? = nil) throws {
      self.path = path
      label = "\(path) \(shape.map { "\($0)" } ?? "") on \(device)"
      var configuration = ModelConfiguration(computeUnits: .devices([device]))
      configuration.usesCache = false
      configuration.isDeterministic = true
      if let shape { configuration.inputShapes = ["x": shape] }
      self.configuration = configuration
      model = try Model(contentsOf: URL(filePath: path), configuration: configuration)
      var values: [String: FeatureValue] = [:]
      for (name, feature) in model.modelDescription.inputDescriptionsByName {
        values[name] = try Subject.value(feature, shape)
      }
      input = DictionaryFeatureProvider(dictionary: values)
      expected = try model.prediction(from: input)
    }

    /// Returns the model's answer after it is loaded again, from the cache if it has been loaded before.
    func reloaded(cache: URL) async throws -> DictionaryFeatureProvider {
      var configuration = configuration
      (configuration.usesCache, configuration.cacheDirectory) = (true, cache)
      let model = try await Model.load(contentsOf: URL(filePath: path), configuration: configuration)
      return try await model.prediction(from: input)
    }

    private static func value(_ feature: FeatureDescription, _ shape: [Int]?) throws -> FeatureValue {
      if let image = feature.imageConstraint {
        let bytes = (0..<image.pixelsWide * image.pixelsHigh * 3).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        return FeatureValue(
          pixelBuffer: try PixelBuffer(
            width: image.pixelsWide, height: image.pixelsHigh, format: .rgb8, bytes: bytes))
      }
      let constraint = try #require(feature.multiArrayConstraint)
      let array = try MultiArray(shape: shape ?? constraint.shape.map { max($0, 1) }, dataType: constraint.dataType)
      for place in 0..<array.count { array[place] = Double(place &* 37 % 251) / 251 }
      return FeatureValue(multiArray: array)
    }
  }

  /// The resources of the process, and the time of the measurement.
  private struct Holding {
    let bytes: Int
    let descriptors: Int
    let threads: Int
    let instant = ContinuousClock.now

    init(_ process: OwnProcess) {
      (bytes, descriptors, threads) = (process.residentByteCount, process.descriptorCount, process.threadCount)
    }
  }

  private final class Tally: Sendable {
    /// The resources of the process when every kind of work had been done and half of the time was over.
    let settled = Mutex<Holding?>(nil)
    let faults = Mutex(FaultRounds.Tally())
    let counts = Mutex((equal: 0, cancelled: 0, loaded: 0))
    /// Tasks that have been through all subjects.
    let warm = Mutex(0)

    /// Takes the measurement after which resources may not grow. They grow when something happens for the first time:
    /// every subject in every task, loads of each, rounds of faults on both interfaces.
    func settle(_ process: OwnProcess, _ subjects: Int) {
      guard warm.withLock({ $0 }) == SoakTests.tasks, counts.withLock({ $0.loaded }) >= subjects,
        faults.withLock({ $0.reached >= SoakTests.firstFaults })
      else { return }
      settled.withLock { $0 = $0 ?? Holding(process) }
    }
  }

  private static func subjects() throws -> [Subject] {
    let devices = deviceInventory.devices.map(\.info.id).filter { $0 != "reference" }
    let digits = "\(SharedFiles.projectRoot)/Examples/Digits/Digits"
    var subjects: [Subject] = []
    for device in devices {
      subjects.append(try Subject("\(digits).mlpackage", device))
      subjects.append(try Subject("\(digits).onnx", device))
      if seconds != nil, SharedFiles.root != nil {
        subjects.append(try Subject(SharedFiles.path("models/MobileNetV2_f32.onnx"), device))
      } else {
        subjects.append(try Subject(FlexibleNetwork.path, device, shape: [2, 3, 40, 24]))
      }
    }
    return subjects
  }

  @Test(.slow) func eightTasksRunOnEveryModelAndDevice() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      try await SoakTests.soak()
    }
    if Self.seconds != nil, let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
  }

  private static func soak() async throws {
    let process = OwnProcess()
    let subjects = try subjects()
    let cache = FixtureTree([:])
    let began = ContinuousClock.now
    let duration = seconds ?? 2
    @Sendable func elapsed() -> Double { (ContinuousClock.now - began) / .seconds(1) }
    let tally = Tally()
    /// The second half takes as long as the first was meant to, whenever it began.
    @Sendable func goesOn() -> Bool {
      guard !Task.isCancelled else { return false }
      return tally.settled.withLock { $0.map { $0.instant.duration(to: .now) < .seconds(duration / 2) } ?? true }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<tasks {
        group.addTask {
          var turn = number
          var turns = 0
          repeat {
            let subject = subjects[turn % subjects.count]
            turn += turn % 3 + 1
            turns += 1
            try await visit(
              subject, turn, loads: turns <= 4 || turn % 41 == 0, cache: URL(filePath: cache.root), tally)
            if turns == subjects.count { tally.warm.withLock { $0 += 1 } }
            if elapsed() > duration / 2 { tally.settle(process, subjects.count) }
          } while goesOn() || turns < subjects.count
        }
      }
      group.addTask {
        var rounds = try FaultRounds(seed: seed)
        repeat {
          // The resources of a lost device are never freed, so devices are lost only before the measurement.
          let half = min(elapsed() / (duration / 2), 1)
          let isSettled = tally.settled.withLock { $0 != nil }
          try await rounds.run(mayLose: !isSettled && Double(rounds.tally.lost) < mostLost * half)
          tally.faults.withLock { [tally = rounds.tally] in $0 = tally }
        } while goesOn()
      }
      while try await group.next() != nil {}
    }
    let total = tally.counts.withLock { $0 }
    let faults = tally.faults.withLock { $0 }
    let before = try #require(tally.settled.withLock { $0 })
    let after = Holding(process)
    let growth = after.bytes - before.bytes
    #expect(total.equal >= subjects.count)
    #expect(growth < 64 << 20, "memory grew by \(growth) bytes over the second half")
    #expect(
      after.descriptors <= before.descriptors + 16,
      "\(before.descriptors) → \(after.descriptors) descriptors")
    #expect(after.threads <= before.threads + 16, "\(before.threads) → \(after.threads) threads")
    #expect(faults.findings == [], "seed \(seed)")
    #expect(faults.right > 0 && faults.reached > 0)
    print(
      "soak: \(Int(elapsed())) s, \(subjects.count) models on devices, \(total.equal) equal results,",
      "\(total.cancelled) cancelled, \(total.loaded) loads; seed \(seed): \(faults.rounds) rounds of faults,",
      "\(faults.reached) reached, \(faults.right) right answers, \(faults.errors) clear errors, \(faults.lost) devices",
      "lost; \(before.bytes >> 20) MiB at half time and \(growth >> 10) KiB more at the end,",
      "descriptors \(before.descriptors) → \(after.descriptors), threads \(before.threads) →",
      "\(after.threads)")
    leave()
  }

  private static let tasks = 8
  /// How many devices may be lost in a run.
  private static let mostLost = seconds == nil ? 3.0 : 40
  /// Faults that are reached before memory is measured.
  private static let firstFaults = 10

  /// Runs one prediction, by the loaded model or occasionally by one that is loaded for it. Some are cancelled after
  /// they have begun.
  private static func visit(
    _ subject: Subject, _ turn: Int, loads: Bool, cache: URL, _ tally: Tally
  ) async throws {
    let task = Task { () async throws -> DictionaryFeatureProvider in
      loads ? try await subject.reloaded(cache: cache) : try await subject.model.prediction(from: subject.input)
    }
    if turn % 7 == 0 { task.cancel() }
    switch await task.result {
    case .success(let outputs):
      #expect(outputs == subject.expected, "\(subject.label)")
      tally.counts.withLock { $0.equal += 1 }
    case .failure(let error):
      guard (error as? ModelError)?.code == .predictionCancelled else { throw error }
      tally.counts.withLock { $0.cancelled += 1 }
    }
    if loads { tally.counts.withLock { $0.loaded += 1 } }
  }
}
