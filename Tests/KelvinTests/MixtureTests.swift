import Dispatch
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasuring
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// Predictions that alternate between the plans of a plan file.
@Suite struct MixtureTests {
  /// Three equal cards, which count their predictions, take a random time for each, and can be pulled out.
  private final class Machine: Sendable {
    private struct State {
      var counts: [String: Int] = [:]
      var out: String?
      var random: SeededGenerator
    }

    static let cards = ["card:0", "card:1", "card:2"]
    static let shares = [0.5, 0.3, 0.2]
    private let state: Mutex<State>

    init(seed: UInt64 = 0) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    func pullOut(_ card: String) { state.withLock { $0.out = card } }

    /// The predictions of each card since the last call.
    func takeCounts() -> [Int] {
      state.withLock { state in
        defer { state.counts = [:] }
        return Self.cards.map { state.counts[$0, default: 0] }
      }
    }

    private func come(_ card: String) throws(DeviceError) {
      let (isOut, turns) = state.withLock { state in
        state.counts[card, default: 0] += 1
        return (state.out == card, state.random.index(below: 8))
      }
      if isOut { throw DeviceError(.lost, device: card, place: "a test", reason: "pulled out") }
      for _ in 0..<1 << turns { _ = sched_yield() }
    }

    /// - Parameter single: the card of the single plan in the file.
    func predictor(
      single: String = cards[0], _ change: (inout LoadOptions) -> Void = { _ in }
    ) throws -> (predictor: Predictor, remarks: [String]) {
      let devices = Self.cards.map { card in HookedDevice(id: card) { () throws(DeviceError) in try self.come(card) } }
      let inventory = DeviceInventory(devices.map { DeviceListing($0) } + [DeviceListing(ReferenceDevice())])
      var options = LoadOptions()
      options.cacheDirectory = nil
      options.checksResults = false
      options.request = PlanRequest(units: .devices(Self.cards), precision: .full, threads: 1)
      options.shapes = ["x": [1, 3, 8, 8]]
      let first = try LoadedModel(path: FlexibleNetwork.path, options: options, inventory: inventory)
      var plan = try first.shown.plan(try first.shown.explain(), of: first.function)
      for index in plan.nodes.indices { plan.nodes[index].device = single }
      let names = plan.placement.keys
      plan.mixture = PlanMixture(
        plans: zip(Self.cards, Self.shares).map { card, share in
          .init(share: share, placement: Dictionary(uniqueKeysWithValues: names.map { ($0, card) }))
        })
      options.plan = try Plan(json: try plan.json())
      change(&options)
      let planned = try PlannedModel(
        try LoadedModel(path: FlexibleNetwork.path, options: options, inventory: inventory))
      return (try planned.predictor(specializationLimit: 2), planned.remarks)
    }
  }

  private static func input(_ number: Int, side: Int = 8) throws -> DictionaryFeatureProvider {
    var random = SeededGenerator(seed: UInt64(number))
    let values = (0..<3 * side * side).map { _ in Float(number % 7) + Float(random.unit()) - 0.5 }
    return DictionaryFeatureProvider(
      dictionary: ["x": FeatureValue(multiArray: try MultiArray(values, shape: [1, 3, side, side]))])
  }

  private static func answer(_ features: any FeatureProvider) -> [Double] {
    features.featureValue(for: "y")?.multiArrayValue?.doubles ?? []
  }

  /// The most by which counts differ from shares of their sum.
  private static func excess(_ counts: [Int], _ shares: [Double]) -> Double {
    let sum = Double(counts.reduce(0, +))
    return zip(counts, shares).map { abs(Double($0) - $1 * sum) }.max() ?? 0
  }

  @Test func predictionsOfManyThreadsKeepTheShares() throws {
    let machine = Machine(seed: 1)
    let (predictor, remarks) = try machine.predictor()
    #expect(predictor.planCount == 3)
    #expect(remarks.contains { $0.hasPrefix("3 plans take turns: 50 % of the frames on card:0, 30 %") }, "\(remarks)")
    let input = try Self.input(0)
    let expected = Self.answer(try predictor.predict(input, [:], nil))
    let wrong = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<30 where (try? Self.answer(predictor.predict(input, [:], nil))) != expected {
        wrong.add(1, ordering: .relaxed)
      }
    }
    let counts = machine.takeCounts()
    #expect(wrong.load(ordering: .relaxed) == 0 && counts.reduce(0, +) == 121)
    #expect(Self.excess(counts, Machine.shares) < 1, "\(counts)")
  }

  @Test(arguments: Tier.seeds(UInt64(3), of: 40))
  func batchesKeepTheirOrderUnderRandomDelays(seed: UInt64) throws {
    let machine = Machine(seed: seed)
    let predictor = try machine.predictor().predictor
    #expect(predictor.batchWidth > 3, "a prediction for each card, and one that the host prepares")
    let inputs = try (0..<40).map { try Self.input($0) }
    let expected = try inputs.map { Self.answer(try predictor.predict($0, [:], nil)) }
    #expect(Set(expected).count == inputs.count)
    let outputs = try predictor.predict(batch: ArrayBatchProvider(array: inputs), nil)
    #expect(outputs.array.map { expected.firstIndex(of: Self.answer($0)) } == Array(inputs.indices), "seed \(seed)")
    #expect(Self.excess(machine.takeCounts(), Machine.shares) < 1, "seed \(seed)")
  }

  /// Sizes of the same bucket have the same plans, and turns of their own.
  @Test func otherSizesAlternateToo() throws {
    let machine = Machine()
    let predictor = try machine.predictor().predictor
    for _ in 0..<20 { _ = try predictor.predict(try Self.input(0, side: 6), [:], nil) }
    let counts = machine.takeCounts()
    #expect(counts.reduce(0, +) == 20 && Self.excess(counts, Machine.shares) < 1, "\(counts)")
  }

  /// The other plans take the place of a lost card, whether or not the file's single plan uses it.
  @Test(arguments: Machine.cards, Machine.cards)
  func otherPlansTakeTheShareOfALostCard(lost: String, single: String) throws {
    let machine = Machine(seed: 2)
    let predictor = try machine.predictor(single: single).predictor
    let inputs = try (0..<40).map { try Self.input($0) }
    let expected = try inputs.map { Self.answer(try predictor.predict($0, [:], nil)) }
    machine.pullOut(lost)
    let outputs = try predictor.predict(batch: ArrayBatchProvider(array: inputs), nil)
    #expect(outputs.array.map(Self.answer) == expected)
    _ = machine.takeCounts()
    for input in inputs { _ = try predictor.predict(input, [:], nil) }
    let counts = machine.takeCounts()
    let place = try #require(Machine.cards.firstIndex(of: lost))
    #expect(counts[place] == 0 && counts.reduce(0, +) == inputs.count, "\(counts)")
    let shares = Machine.shares.indices.map { $0 == place ? 0 : Machine.shares[$0] / (1 - Machine.shares[place]) }
    #expect(Self.excess(counts, shares) < 2, "a run of turns that began before: \(counts)")
    #expect(predictor.loaded.fallback.remarks.contains { $0.hasPrefix("\(lost) is unavailable") })
  }

  @Test func aDeterministicModelHasOnePlan() throws {
    let (predictor, remarks) = try Machine().predictor(single: Machine.cards[1]) { $0.isDeterministic = true }
    #expect(predictor.planCount == 1)
    #expect(remarks.contains { $0.hasPrefix("one plan runs all predictions, because results are to repeat") })
  }

  /// - Throws: an error that names the plan.
  private static func refusal(_ change: (inout PlanMixture) -> Void) -> String {
    do {
      _ = try Machine().predictor { options in
        guard var mixture = options.plan?.mixture else { return }
        change(&mixture)
        options.plan?.mixture = mixture
      }
      return ""
    } catch { return "\(error)" }
  }

  @Test func plansOfOtherNodesAndDevicesAreRefused() {
    let node = "a node that no model has"
    #expect(Self.refusal { $0.plans[1].placement[node] = "card:1" }.contains("places '\(node)'"))
    #expect(Self.refusal { $0.plans[2].placement.removeAll() }.contains("has no device for"))
    let stranger = Self.refusal { mixture in
      mixture.plans[1].placement = mixture.plans[1].placement.mapValues { _ in "card:7" }
    }
    #expect(stranger.contains("card:7"), "\(stranger)")
  }

  // MARK: the public library

  private static func model(plan: URL? = nil, units: ComputeUnits = .cpuOnly) throws -> Model {
    var configuration = ModelConfiguration(computeUnits: units)
    configuration.usesCache = false
    configuration.precision = .full
    configuration.threadCount = 2
    configuration.inputShapes = ["x": [1, 3, 8, 8]]
    configuration.plan = plan
    return try Model(contentsOf: URL(filePath: FlexibleNetwork.path), configuration: configuration)
  }

  /// Saves a plan by which a third of the frames run on the reference device.
  private static func savePlan(in folder: TemporaryFolder) throws -> URL {
    var plan = try model().computePlan.plan
    let names = plan.placement.keys
    plan.mixture = PlanMixture(
      plans: [("cpu", 2.0 / 3), ("reference", 1.0 / 3)].map { device, share in
        .init(share: share, placement: Dictionary(uniqueKeysWithValues: names.map { ($0, device) }))
      })
    return URL(filePath: folder.write(Array(try plan.json()), "plan.json"))
  }

  @Test func aSavedPlanKeepsItsMixture() throws {
    let folder = TemporaryFolder()
    let model = try Self.model(plan: try Self.savePlan(in: folder))
    #expect(model.remarks.contains { $0.hasPrefix("2 plans take turns: 67 % of the frames on cpu, 33 % on reference") })
    let again = URL(filePath: folder.path + "/again.json")
    try model.computePlan.save(to: again)
    #expect(try Self.model(plan: again).computePlan.plan.mixture == model.computePlan.plan.mixture)
    #expect(model.computePlan.plan.mixture?.plans.count == 2)
  }

  @Test(arguments: Tier.seeds(UInt64(2), of: 20))
  func framesOfAStreamAlternateInOrder(seed: UInt64) async throws {
    let folder = TemporaryFolder()
    let model = try Self.model(plan: try Self.savePlan(in: folder))
    let reference = try Self.model(units: .devices(["reference"]))
    var random = SeededGenerator(seed: seed)
    let inputs = try (0..<90).map { _ in try Self.input(random.index(below: 1_000_000)) }
    let stream = try await FrameStream(model, options: .init(queue: inputs.count, buffer: inputs.count))
    #expect(stream.settings == ["as planned", "2 frames at a time", "4 frames at a time"])
    for input in inputs { #expect(stream.push(input)) }
    stream.finish()
    var (next, onReference) = (0, 0)
    for try await answer in stream.answers {
      #expect(answer.number == next, "seed \(seed)")
      let seen = Self.answer(try answer.features())
      let expected = Self.answer(try await reference.prediction(from: inputs[next]))
      let isClose = zip(seen, expected).allSatisfy { abs($0 - $1) < 1e-4 * max(1, abs($1)) }
      #expect(isClose && seen.count == 10, "seed \(seed): frame \(next)")
      // The CPU rounds differently.
      onReference += seen == expected ? 1 : 0
      next += 1
    }
    #expect(next == inputs.count)
    // Each of three numbers of frames at a time has turns of its own.
    #expect(abs(Double(onReference) - Double(inputs.count) / 3) < 4, "seed \(seed): \(onReference)")
  }
}
