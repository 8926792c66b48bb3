import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

@Suite struct UnitsTests {
  private func device(_ id: String, _ kind: DeviceInfo.Kind, resource: String? = nil) -> any Device {
    NullDevice(
      info: DeviceInfo(
        id: id, name: id, kind: kind, driver: "null", version: "1", memory: 1 << 30, resource: resource ?? id))
  }

  private var inventory: DeviceInventory {
    let absent = DeviceInfo(
      id: "hexagon", name: "Hexagon", kind: .accelerator, driver: "", version: "", memory: 0, resource: "hexagon")
    return DeviceInventory(
      [
        device("cpu", .cpu, resource: "cpu"), device("vulkan:0", .discreteGPU, resource: "card"),
        device("vulkan:1", .software, resource: "cpu"), device("opencl:0", .discreteGPU, resource: "card"),
        device("opencl:1", .accelerator),
      ].map { DeviceListing($0) } + [
        DeviceListing(ReferenceDevice()), DeviceListing(missing: absent, reason: "libhexagon.so is not installed"),
      ])
  }

  private func names(_ units: String) throws -> [String] {
    try #require(UnitsSelection(units)).devices(in: inventory).map(\.info.id)
  }

  @Test(arguments: [" all", "cpu-only,", " , cpuAndGPU ", "cpu-and-neural-engine", " vulkan:0 ,cpu"])
  func unitsIgnoreBlanksAndExtraCommas(text: String) throws {
    let units = try #require(UnitsSelection(text))
    #expect(UnitsSelection(units.description) == units)
    #expect((units == .devices(["vulkan:0", "cpu"])) == text.contains(":"))
  }

  @Test func selectionsAllowTheirDevices() throws {
    #expect(try names("all") == ["cpu", "vulkan:0", "opencl:0", "opencl:1"])
    #expect(try names("cpu-only") == ["cpu"])
    #expect(try names("cpu-and-gpu") == ["cpu", "vulkan:0", "opencl:0"])
    #expect(try names("cpu-and-neural-engine") == ["cpu", "opencl:1"])
    #expect(try names("vulkan:1, cpu") == ["vulkan:1", "cpu"])
    #expect(try names("cpu,cpu,vulkan:0,cpu") == ["cpu", "vulkan:0"])
    #expect(throws: RuntimeError.self) { try UnitsSelection.devices([]).devices(in: inventory) }
  }

  @Test func cardIsUsedThroughItsFasterInterface() throws {
    let (graph, _) = try RandomGraph.make(seed: 8)
    var profile = MeasuredProfile(kelvinVersion: "1", machine: MachineDescription(SystemFiles()))
    profile.devices = inventory.devices.map(\.info.identity)
    for node in graph.nodes {
      let key = CostSheet.key(node, in: graph, computedIn: .full, threads: 1)
      for (id, seconds) in [("vulkan:0", 2e-6), ("opencl:0", 1e-6)] {
        let interval = ConfidenceInterval(lower: seconds, upper: seconds, confidence: 0.95)
        profile.nodes[key, default: [:]][id] = NodeCost(
          seconds: seconds, interval: interval, samples: 9, source: .deviceTimestamps)
      }
    }
    let planner = Planner(inventory: inventory, costs: CostSheet(profile))
    let explanation = try planner.problem(graph, PlanRequest(units: .cpuAndGPU)).explain()
    for record in explanation.nodes {
      let vulkan = record.candidates.first { $0.device == "vulkan:0" }
      #expect(vulkan?.seconds == nil)
      #expect(vulkan?.unsupported?.contains("opencl:0") == true)
    }
  }

  @Test func coreMLUnitNamesAreAccepted() {
    #expect(UnitsSelection("cpuAndGPU") == .cpuAndGPU)
    #expect(UnitsSelection("cpuOnly") == .cpuOnly)
    #expect(UnitsSelection("cpuAndNeuralEngine") == .cpuAndNeuralEngine)
    #expect(UnitsSelection(" , ") == nil)
  }

  @Test func absentDeviceIsNamed() throws {
    let unknown = #expect(throws: RuntimeError.self) { try names("cpu,cuda:0") }
    #expect(unknown?.description.contains("'cuda:0'") == true)
    #expect(unknown?.description.contains("vulkan:0") == true)
    let absent = #expect(throws: RuntimeError.self) { try names("hexagon") }
    #expect(absent?.description.contains("libhexagon.so is not installed") == true)
  }

  @Test func unsupportedNodesFallBackWithAReason() throws {
    let (graph, _) = try RandomGraph.make(seed: 5)
    let picky = NullDevice(
      info: DeviceInfo(
        id: "picky", name: "picky", kind: .discreteGPU, driver: "null", version: "1", memory: 1 << 30, resource: "picky"
      ),
      supports: { node, _ in node.op is Convolution ? .supported : .unsupported("only convolutions") })
    let inventory = DeviceInventory([DeviceListing(ReferenceDevice()), DeviceListing(picky)])
    let planner = Planner(inventory: inventory, costs: CostSheet())
    let explanation = try planner.problem(graph, PlanRequest(units: .devices(["picky"]))).explain()
    for (node, record) in zip(graph.nodes, explanation.nodes) {
      #expect(record.device == (node.op is Convolution ? "picky" : "reference"))
      if !(node.op is Convolution) {
        #expect(record.candidates.contains { $0.device == "picky" && $0.unsupported == "only convolutions" })
      }
    }
    let error = #expect(throws: RuntimeError.self) {
      try planner.problem(graph, PlanRequest(units: .devices(["picky"]), isStrict: true)).explain()
    }
    #expect(error?.description.contains("only convolutions") == true)
    #expect(error?.description.contains("--strict") == true)
  }

  @Test func pinsApplyByNodeAndByOrigin() throws {
    let (graph, _) = try RandomGraph.make(seed: 6)
    let inventory = DeviceInventory([
      DeviceListing(ReferenceDevice()), DeviceListing(DeferredDevice(id: "gpu", isUnified: false)),
    ])
    let planner = Planner(inventory: inventory, costs: CostSheet())
    let node = try #require(graph.nodes.first)
    for name in [node.name, node.origins[0].name] {
      let explanation = try planner.problem(graph, PlanRequest(units: .devices(["reference"]), pins: [name: "gpu"]))
        .explain()
      #expect(explanation.nodes[0].device == "gpu")
    }
    #expect(throws: RuntimeError.self) {
      try planner.problem(graph, PlanRequest(units: .devices(["reference"]), pins: ["nobody": "gpu"])).explain()
    }
    #expect(throws: RuntimeError.self) {
      try planner.problem(graph, PlanRequest(units: .devices(["gpu"]), isStrict: true, exclusions: ["gpu"])).explain()
    }
  }
}
