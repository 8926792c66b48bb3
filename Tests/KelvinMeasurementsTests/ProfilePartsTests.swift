import KelvinMeasurements
import Testing

/// The parts that later versions of the document added: all optional, all checked.
@Suite struct ProfilePartsTests {
  private static let first = #"""
    {"format": "kelvin-profile", "version": 1, "kelvinVersion": "1.0",
     "machine": {"processor": "P", "architecture": "x86_64", "logicalCores": 2, "memoryBytes": 0, "kernel": "6",
      "isVirtualised": true},
     "devices": [{"id": "cpu", "name": "P", "driver": "d", "version": ""},
      {"id": "vulkan:0", "name": "V", "driver": "d", "version": "1"}],
     "nodes": {"relu automatic 2t": {"cpu": {"seconds": 0.5, "samples": 3, "source": "host clock", "isNoisy": false,
      "interval": {"lower": 0.4, "upper": 0.6, "confidence": 0.75}}}},
     "transfers": [{"from": "cpu", "to": "vulkan:0", "latency": 0, "bytesPerSecond": 1, "samples": 1,
      "isNoisy": false}],
     "startup": {}}
    """#

  private func read(_ text: String) throws(MeasurementError) -> MeasuredProfile {
    try MeasuredProfile(json: Array(text.utf8), document: "p")
  }

  private var full: MeasuredProfile {
    get throws {
      var profile = try read(Self.first)
      profile.label = .sample
      profile.note = "made up"
      profile.isPartial = true
      profile.devices[1].power = DevicePower(idleWatts: 5, busyWatts: 50, source: "board power")
      profile.devices[1].memory = 1 << 30
      profile.corun = [CorunFactor(a: "cpu", b: "vulkan:0", factor: 1.5, samples: 3)]
      profile.work = ["relu full 2t": NodeWork(op: "unary", operations: 10, bytes: 80)]
      profile.nodes["relu full 2t"]?["cpu"]?.cold = 0.7
      profile.nodes["relu full 2t"]?["cpu"]?.compile = 0.1
      profile.transfers[0].watts = 3
      profile.models["m"] = ProfiledModel(
        name: "m.onnx", function: "main", precision: "automatic", threads: 2,
        inputs: [.init(value: "x", bytes: 40)], outputs: ["y"],
        nodes: [
          .init(name: "r", key: "relu full 2t", inputs: ["x"], outputs: [.init(value: "y", bytes: 40)])
        ])
      return profile
    }
  }

  @Test func firstVersionDocumentIsRead() throws {
    let profile = try read(Self.first)
    #expect(profile.label == .measured && !profile.isPartial && profile.models.isEmpty && profile.corun.isEmpty)
    #expect(profile.cost(node: "relu full 2t", device: "cpu")?.samples == 3)
    #expect(profile.devices[0].power == nil)
    #expect(profile.threads == 2)
  }

  @Test func keysOfEarlierVersionsAreMigrated() throws {
    var profile = try read(
      Self.first.replacing(#""version": 1"#, with: #""version": 2"#).replacing(
        #""nodes": {"#,
        with: #"""
          "work": {"relu low 2t": {"op": "unary", "operations": 1, "bytes": 8}},
          "models": {"m": {"name": "m", "function": "main", "precision": "low", "threads": 2, "inputs": [], "outputs": [],
           "nodes": [{"name": "r", "key": "relu low 2t", "inputs": [], "outputs": []},
            {"name": "hand", "key": "by hand 2t", "inputs": [], "outputs": [], "unsupported": {"cpu": "no"}}]}},
          "nodes": {"relu high 2t": {"cpu": {"seconds": 0.7, "samples": 9}, "vulkan:0": {"seconds": 0.2}},
           "relu low 2t": {"cpu": {"seconds": 0.9, "samples": 50, "isNoisy": true}},
           "by hand 2t": {"cpu": {"seconds": 3}},
          """#))
    #expect(Set(profile.nodes.keys) == ["relu full 2t", "by hand 2t"])
    // The certain one with most samples is kept.
    #expect(profile.cost(node: "relu full 2t", device: "cpu")?.seconds == 0.7)
    #expect(profile.cost(node: "relu full 2t", device: "vulkan:0")?.seconds == 0.2)
    #expect(profile.work["relu full 2t"]?.bytes == 8)
    #expect(profile.models["m"]?.nodes.map(\.key) == ["relu full 2t", "by hand 2t"])
    // Entries that this version writes under another precision were measured in that precision.
    profile.nodes["relu low 2t"] = profile.nodes["relu full 2t"]
    let read = try MeasuredProfile(json: try profile.json(), document: "p")
    #expect(Set(read.nodes.keys) == ["relu full 2t", "relu low 2t", "by hand 2t"])
  }

  @Test func everyPartRoundTrips() throws {
    let profile = try full
    let copy = try MeasuredProfile(json: try profile.json(), document: "p")
    #expect(copy == profile)
    let start = try #require(copy.cost(node: "relu full 2t", device: "cpu")?.startSeconds)
    #expect(abs(start - 0.3) < 1e-12)
    #expect(copy.corun("vulkan:0", "cpu")?.overlaps == true)
  }

  @Test func statedCostNeedsOnlySeconds() throws {
    let text = Self.first.replacing(
      #""samples": 3, "source": "host clock", "isNoisy": false,"#, with: ""
    ).replacing(
      #""interval": {"lower": 0.4, "upper": 0.6, "confidence": 0.75}"#, with: #""joules": 2"#)
    let cost = try #require(try read(text).cost(node: "relu full 2t", device: "cpu"))
    #expect(cost.seconds == 0.5 && cost.source == .stated && cost.samples == 1 && cost.joules == 2)
    #expect(cost.interval.contains(0.5) && !cost.isNoisy)
  }

  @Test func invalidPartsAreRefusedWithTheirPlace() throws {
    func rejects(_ place: String, _ change: (inout MeasuredProfile) -> Void) throws {
      var bad = try full
      change(&bad)
      let bytes = try bad.json()
      let error = #expect(throws: MeasurementError.self) { try MeasuredProfile(json: bytes, document: "p") }
      #expect(error?.description.hasPrefix("p: \(place)") == true, "\(String(describing: error))")
    }
    try rejects("devices.vulkan:0.power.idleWatts") { $0.devices[1].power?.idleWatts = -1 }
    try rejects("devices.vulkan:0.power.busyWatts") { $0.devices[1].power?.busyWatts = 1 }
    try rejects("devices.vulkan:0.memory") { $0.devices[1].memory = -1 }
    try rejects("nodes.relu full 2t.cpu.cold") { $0.nodes["relu full 2t"]?["cpu"]?.cold = -1 }
    try rejects("nodes.relu full 2t.cpu.compile") { $0.nodes["relu full 2t"]?["cpu"]?.compile = -1 }
    try rejects("work.relu full 2t.bytes") { $0.work["relu full 2t"]?.bytes = -1 }
    try rejects("transfers.cpu→vulkan:0.watts") { $0.transfers[0].watts = -1 }
    try rejects("corun.cpu+vulkan:0") { $0.corun[0].factor = 0 }
    try rejects("corun.cpu+nobody") { $0.corun[0].b = "nobody" }
    try rejects("corun.vulkan:0+cpu") { $0.corun.append(CorunFactor(a: "vulkan:0", b: "cpu", factor: 1, samples: 1)) }
    try rejects("models.m.threads") { $0.models["m"]?.threads = 0 }
    try rejects("models.m.nodes.r.outputs.y.bytes") { $0.models["m"]?.nodes[0].outputs[0].bytes = -1 }
    try rejects("models.m.nodes.r.key") { $0.models["m"]?.nodes[0].key = "unknown" }
  }

  @Test func mergedProfileKeepsItsPartsAndLabel() throws {
    var other = try read(Self.first.replacing("\"P\"", with: "\"Q\""))
    other.devices[0].power = DevicePower(idleWatts: 1, busyWatts: 2, source: "s")
    other.corun = [CorunFactor(a: "vulkan:0", b: "cpu", factor: 1.9, samples: 3)]
    let merged = try other.merging(try full, acrossMachines: true)
    #expect(merged.label == .sample && merged.isPartial && merged.note == "made up")
    // Another processor behind the same id: nothing of the first one's is kept.
    #expect(merged.device("cpu")?.name == "P" && merged.device("cpu")?.power == nil)
    #expect(merged.device("vulkan:0")?.power?.busyWatts == 50)
    #expect(merged.corun.map(\.factor) == [1.5])
    #expect(merged.models.count == 1 && merged.work.count == 1)
    #expect(try full.merging(try full) == full)
  }

  @Test func removedDeviceTakesItsPairsAndWork() throws {
    let gone = try full.removing(devices: ["cpu"])
    #expect(gone.corun.isEmpty && gone.transfers.isEmpty && gone.nodes.isEmpty && gone.work.isEmpty)
    #expect(gone.devices.map(\.id) == ["vulkan:0"])
  }
}
