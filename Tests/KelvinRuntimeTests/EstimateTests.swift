import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Runs nothing, and claims to multiply twice as fast at precision `.low`.
private final class RoundingDevice: Device {
  let health = DeviceHealth()
  let info = DeviceInfo(
    id: "rounding", name: "rounding", kind: .cpu, driver: "test", version: "1", memory: 1 << 30, resource: "cpu")

  func support(for node: Node, in graph: Graph, precision: Precision) -> Support { .supported }

  func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision {
    node.op is MatMul ? precision : .full
  }

  func productSpeedup(at precision: Precision) -> Double { precision == .low ? 2 : 1 }

  func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    try NullDevice().compile(segment)
  }

  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try HostBuffer(byteCount: byteCount, for: info.id)
  }
}

/// Cost estimates without measurements.
@Suite struct EstimateTests {
  private let card = DeviceInfo(
    id: "vulkan:0", name: "Card", kind: .software, driver: "llvmpipe Mesa 99", version: "1", memory: 0, resource: "cpu")

  /// Nodes of 1 us for each 1e6 operations, and 5 us each.
  private func profile(_ device: DeviceIdentity, count: Int, architecture: String? = nil) -> MeasuredProfile {
    var profile = MeasuredProfile(
      kelvinVersion: "test",
      machine: MachineDescription(
        processor: "p", architecture: architecture ?? MachineDescription.hostArchitecture, logicalCores: 2,
        memoryBytes: 0, kernel: "", isVirtualised: true), devices: [device])
    for index in 1...count {
      let operations = Double(index) * 1e6
      let seconds = 5e-6 + operations * 1e-12
      profile.nodes["n\(index) full 2t"] = [
        device.id: NodeCost(
          seconds: seconds, interval: .init(lower: seconds, upper: seconds, confidence: 1), samples: 9,
          source: .hostClock)
      ]
      profile.work["n\(index) full 2t"] = NodeWork(op: "convolution", operations: operations, bytes: 1)
    }
    return profile
  }

  private func estimate(_ sheet: CostSheet, _ key: String = "unknown full 2t") -> CostSheet.Cost {
    sheet.cost(key: key, on: card, threads: 2, work: NodeWork(op: "convolution", operations: 1e9, bytes: 1))
  }

  @Test func ownMeasurementsComeFirst() throws {
    let own = CostSheet(profile(card.identity, count: 20), shipped: .none)
    #expect(own.basis(of: card, threads: 2).kind == .fitted)
    #expect(abs(estimate(own).seconds / (5e-6 + 1e-3) - 1) < 0.01)
    #expect(estimate(own).source == .estimated)
    let error = try #require(own.basis(of: card, threads: 2).leaveOneOutError)
    #expect(error < 0.01)
    #expect(estimate(own, "n3 full 2t").source == .measured)
  }

  @Test func estimatesCountTheRateOfThePrecision() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [512, 512]))
    let product = try builder.add(MatMul(), x, x, name: "product", origin: origin)
    builder.output(try builder.add(Unary(.relu), product, name: "relu", origin: origin))
    let graph = try builder.finish()
    func seconds(_ node: Node, _ precision: Precision) -> Double {
      CostSheet(shipped: .none).cost(node, in: graph, on: RoundingDevice(), asking: precision, threads: 1).seconds
    }
    for node in graph.nodes {
      let ratio = seconds(node, .full) / seconds(node, .low)
      #expect(abs(ratio - (node.op is MatMul ? 2 : 1)) < 0.01, "\(node.name): \(ratio)")
    }
  }

  @Test func estimateErrorIsComputedOncePerModel() async {
    await #expect(processExitsWith: .success) {
      let tests = EstimateTests()
      let process = OwnProcess()
      let sheet = CostSheet(tests.profile(tests.card.identity, count: 400), shipped: .none)
      func seconds(_ calls: Int) -> Double {
        let before = process.processorSeconds
        for _ in 0..<calls { #expect(sheet.basis(of: tests.card, threads: 2).samples == 400) }
        return process.processorSeconds - before
      }
      let (first, others) = (seconds(1), seconds(100))
      #expect(others < 20 * first + 0.005, "\(first) s, then \(others) s for 100")
    }
  }

  @Test func shippedProfileOfTheClassReplacesTheDefault() throws {
    var shipped = card.identity
    shipped.name = "another name"
    shipped.driver = "llvmpipe Mesa 22"
    let documents = ["pipe": try profile(shipped, count: 20).json()]
    let sheet = CostSheet(nil, shipped: ShippedProfiles(documents))
    let basis = sheet.basis(of: card, threads: 2)
    #expect(basis.kind == .shipped && basis.text.contains("'pipe'") && basis.samples == 20)
    #expect(abs(estimate(sheet).seconds / (5e-6 + 1e-3) - 1) < 0.01)
    #expect(estimate(sheet, "n3 full 2t").source == .estimated)
    #expect(abs(estimate(sheet, "n3 full 2t").seconds - 8e-6) < 1e-12)
  }

  @Test func shippedEstimateStatesItsErrorElsewhere() throws {
    let one = profile(card.identity, count: 20)
    let alone = CostSheet(nil, shipped: ShippedProfiles(["one": try one.json()])).basis(of: card, threads: 2)
    #expect(alone.errorElsewhere == nil && alone.text.contains("the error here is unknown"), "\(alone.text)")
    // The same layers on another machine of the class, where each takes twice as long.
    var other = one
    other.machine.processor = "another"
    other.nodes = other.nodes.mapValues { costs in costs.mapValues { $0.adding($0.seconds) } }
    let documents = ["one": try one.json(), "other": try other.json()]
    let both = CostSheet(nil, shipped: ShippedProfiles(documents)).basis(of: card, threads: 2)
    #expect(abs(try #require(both.errorElsewhere) - 0.5) < 0.01)
    #expect(both.text.contains("by 50 % on other machines of its class"), "\(both.text)")
    #expect(try #require(both.leaveOneOutError) < 0.01)
  }

  @Test func samplesAndOtherClassesAreNotUsed() throws {
    var other = card.identity
    other.driver = "Portable Computing Language"
    var sample = profile(card.identity, count: 20)
    sample.label = .sample
    let foreign = profile(card.identity, count: 20, architecture: "vax")
    for document in [profile(other, count: 20), sample, foreign] {
      let sheet = CostSheet(nil, shipped: ShippedProfiles(["x": try document.json()]))
      #expect(sheet.basis(of: card, threads: 2).kind == .guess)
      #expect(sheet.basis(of: card, threads: 2).leaveOneOutError == nil)
    }
  }

  @Test func shippedProfilesAreValid() throws {
    #expect(!ShippedProfiles.standard.names.isEmpty)
    for name in ShippedProfiles.standard.names {
      let profile = try #require(try ShippedProfiles.standard.profile(name))
      #expect(!profile.devices.isEmpty && !profile.nodes.isEmpty, "\(name)")
    }
  }
}
