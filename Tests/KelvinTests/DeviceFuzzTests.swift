import ConformanceChecks
import FoundationEssentials
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Random graphs with special values among their inputs, every node against the reference.
///
/// `KELVIN_FUZZ_DEVICES` says for how many seconds a device (dev/fuzz-devices.sh), `KELVIN_FUZZ_SEED` from which seed on;
/// a few graphs are part of the suite.
@Suite struct DeviceFuzzTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["KELVIN_FUZZ_DEVICES"].flatMap { Double($0) }
  private static let firstSeed = environment["KELVIN_FUZZ_SEED"].flatMap { UInt64($0) } ?? 0
  static let devices = deviceInventory.devices.filter { $0.info.kind != .reference }.map(\.info.id)

  @Test(arguments: devices)
  func everyNodeAgreesWithTheReference(device id: String) throws {
    let device = try deviceInventory.device(id)
    let clock = ContinuousClock()
    let end = clock.now + .seconds(Self.seconds ?? 0)
    var (seed, graphs, total) = (Self.firstSeed, 0, NodeCheck())
    repeat {
      let check = try Self.check(device, seed: seed)
      for difference in check.differences { Issue.record("seed \(seed): \(difference)") }
      total.agreed += check.agreed
      total.unordered += check.unordered
      total.differences += check.differences
      graphs += 1
      seed += 1
    } while graphs < Tier.trials(2, of: 8) || clock.now < end
    #expect(total.agreed > graphs)
    if Self.seconds != nil {
      print(
        "\(id): \(graphs) graphs from seed \(Self.firstSeed), \(total.agreed) nodes agree, "
          + "\(total.unordered) not compared (sums out of range), \(total.differences.count) differ")
    }
  }

  private static func check(_ device: any Device, seed: UInt64) throws -> NodeCheck {
    let (graph, types) = try RandomLayers.make(seed: seed)
    var random = SeededGenerator(seed: ~seed)
    let families = SpecialValues.allCases + [nil]
    let inputs = types.map { type in
      let plain = Tensor.random(type.scalar, type.shape, -1...1, &random)
      let family = families[random.index(below: families.count)]
      return family.map { plain.sprinkled($0.values(of: type.scalar, in: Graph()), &random) } ?? plain
    }
    let passed = seed % 2 == 0 ? graph : try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
    return try checkNodes(of: device, on: passed, inputs, reference: ReferenceDevice())
  }
}
