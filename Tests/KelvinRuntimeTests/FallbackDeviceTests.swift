import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// The fallback devices for nodes that the units cannot run, and the remarks about them.
@Suite struct FallbackDeviceTests {
  private func device(
    _ id: String, _ kind: DeviceInfo.Kind, runs names: String, memory: Int = 1 << 30
  ) -> any Device {
    NullDevice(
      info: DeviceInfo(id: id, name: id, kind: kind, driver: "null", version: "1", memory: memory, resource: id),
      supports: { node, _ in names.contains(node.name) ? .supported : .unsupported("\(id) lacks \(node.name)") })
  }

  /// a → b → c; the card runs a alone, the CPU the given nodes, the reference device everything.
  private func context(cpuRuns names: String) throws -> ModelContext {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    var value = try builder.input("x", TensorType(.float32, [4]))
    for (index, name) in ["a", "b", "c"].enumerated() {
      let origin = Origin(name: "layer \(name)", kind: "Test", index: index)
      value = try builder.add(Unary(.relu), value, name: name, origin: origin)
    }
    builder.output(value)
    let devices = [device("cpu", .cpu, runs: names), device("card", .discreteGPU, runs: "a"), ReferenceDevice()]
    return ModelContext(
      name: "m", key: ContentKey(["m"]), function: "main", graph: try builder.finish(),
      inventory: DeviceInventory(devices.map { DeviceListing($0) }), cache: nil, costs: CostSheet())
  }

  /// Ten products with weights of 256 KiB, which the card and the CPU run.
  private func products(cardHas memory: Int) throws -> ModelContext {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    var value = try builder.input("x", TensorType(.float32, [1, 256]))
    let zeros = Bytes([UInt8](repeating: 0, count: 256 << 10))
    for (index, name) in "abcdefghij".enumerated() {
      let weight = builder.constant("weight \(name)", Tensor(TensorType(.float32, [256, 256]), zeros))
      let origin = Origin(name: "layer \(name)", kind: "Test", index: index)
      value = try builder.add(Linear(), value, weight, name: "\(name)", origin: origin)
    }
    builder.output(value)
    let devices = [
      device("cpu", .cpu, runs: "abcdefghij"), device("card", .discreteGPU, runs: "abcdefghij", memory: memory),
      ReferenceDevice(),
    ]
    return ModelContext(
      name: "m", key: ContentKey(["m"]), function: "main", graph: try builder.finish(),
      inventory: DeviceInventory(devices.map { DeviceListing($0) }), cache: nil, costs: CostSheet())
  }

  @Test func hostRunsWhatTheUnitsDoNotHold() throws {
    let whole = try products(cardHas: 1 << 30)
    #expect(Set(try whole.explain(card).solution.placement.values) == ["card"])
    // 1.69 MiB remain for weights and values.
    let context = try products(cardHas: 2 << 20)
    let explanation = try context.explain(card)
    let placed = explanation.solution.placement.values.count { $0 == "card" }
    #expect(placed >= 5 && placed <= 6, "\(explanation.solution.placement)")
    #expect(Set(explanation.solution.placement.values) == ["card", "cpu"])
    #expect(
      try context.remarks(on: explanation, card) == [
        "card has room for 1.69 MiB, and the weights take 2.50 MiB: it keeps \(placed == 6 ? "1.50" : "1.25") MiB of "
          + "them, and cpu runs \(10 - placed) of 10 nodes"
      ])
    let moved = explanation.nodes.filter { $0.device == "cpu" }.map(\.reason)
    #expect(Set(moved) == ["no room on card beside the others"])
    // Nothing else may run the rest.
    for request in [
      PlanRequest(units: .devices(["card"]), isStrict: true),
      PlanRequest(units: .devices(["card"]), exclusions: ["cpu"]),
    ] {
      #expect {
        _ = try context.explain(request)
      } throws: { error in
        (error as? PlanningError)?.code == .infeasible && "\(error)".contains("2.50 MiB")
      }
    }
  }

  private let card = PlanRequest(units: .devices(["card"]))

  @Test func cpuIsTheFirstFallbackAndReferenceTheLast() throws {
    let context = try context(cpuRuns: "ab")
    let explanation = try context.explain(card)
    #expect(explanation.solution.placement == ["a": "card", "b": "cpu", "c": "reference"])
    let op = Unary.name
    #expect(
      try context.remarks(on: explanation, card) == [
        "1 of 3 nodes runs on cpu, not on card: 1 \(op) (card lacks b); 'kelvin plan' lists them",
        "1 of 3 nodes runs on reference, in float64, which is slow, not on card or cpu: "
          + "1 \(op) (card: card lacks c; cpu: cpu lacks c); 'kelvin plan' lists them",
      ])
  }

  @Test func nodesOfOneOperatorAreCountedTogether() throws {
    let context = try context(cpuRuns: "")
    let request = PlanRequest(units: .all)
    let remarks = try context.remarks(on: try context.explain(request), request)
    #expect(remarks.count == 1, "\(remarks)")
    #expect(
      remarks.first?.hasPrefix("2 of 3 nodes run on reference, in float64, which is slow, not on cpu or card: ") == true
    )
  }

  @Test func supportedAndPinnedNodesGiveNoRemark() throws {
    let context = try context(cpuRuns: "abc")
    for request in [
      PlanRequest(units: .all), PlanRequest(units: .cpuOnly),
      PlanRequest(units: .devices(["cpu"]), pins: ["a": "card", "b": "reference"]),
    ] {
      #expect(try context.remarks(on: try context.explain(request), request) == [])
    }
  }

  @Test(arguments: [UnitsSelection.all, .cpuOnly, .devices(["card"])])
  func excludedCPUIsNotReplaced(units: UnitsSelection) throws {
    let context = try context(cpuRuns: "abc")
    let request = PlanRequest(units: units, exclusions: ["cpu"])
    let error = try #require(throws: RuntimeError.self) { try context.explain(request) }
    #expect(error.description.contains("'c'"), "\(error)")
    #expect(error.description.contains("cpu: could run it, but is excluded"), "\(error)")
    #expect(error.description.contains("remove the exclusion of cpu"), "\(error)")
  }

  @Test func referenceRunsNodesUnsupportedOnAnExcludedCPU() throws {
    let context = try context(cpuRuns: "")
    let request = PlanRequest(units: .devices(["card"]), exclusions: ["cpu"])
    let explanation = try context.explain(request)
    #expect(explanation.solution.placement == ["a": "card", "b": "reference", "c": "reference"])
    #expect(try context.remarks(on: explanation, request).count == 1)
    let strict = PlanRequest(units: .devices(["card"]), isStrict: true, exclusions: ["cpu"])
    let error = try #require(throws: RuntimeError.self) { try context.explain(strict) }
    #expect(error.description.contains("--strict"), "\(error)")
  }
}
