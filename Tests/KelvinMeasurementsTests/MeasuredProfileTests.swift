import KelvinBasics
import KelvinMeasurements
import Testing

@Suite("Measured profiles")
struct MeasuredProfileTests {
  private let machine = MachineDescription(
    processor: "Test CPU", architecture: "x86_64", logicalCores: 2, memoryBytes: 8 << 30, kernel: "6.1",
    isVirtualised: true)
  private let cpu = DeviceIdentity(id: "cpu", name: "Test CPU", driver: "kelvin", version: "1")
  private let gpu = DeviceIdentity(id: "vulkan:0", name: "llvmpipe", driver: "Mesa", version: "22.3.6")

  private func cost(_ seconds: Double, noisy: Bool = false) -> NodeCost {
    NodeCost(
      seconds: seconds, interval: ConfidenceInterval(lower: seconds, upper: seconds, confidence: 0.95), samples: 30,
      source: .hostClock, isNoisy: noisy)
  }

  private var profile: MeasuredProfile {
    MeasuredProfile(
      kelvinVersion: "1.0", machine: machine, devices: [cpu, gpu],
      nodes: ["conv 3x3 f32": ["cpu": cost(0.001), "vulkan:0": cost(0.004)], "relu f32": ["cpu": cost(0.0001)]],
      transfers: [TransferCost(from: "cpu", to: "vulkan:0", latency: 2e-5, bytesPerSecond: 1e9, samples: 50)],
      startup: ["mobilenet": ["vulkan:0": StartupCost(load: 0.1, compile: 0.5, firstRun: 0.2)]],
      pace: [2: 8e8])
  }

  @Test("a profile survives writing and reading, and equal profiles give equal bytes")
  func roundTrip() throws {
    let bytes = try profile.json()
    let copy = try MeasuredProfile(json: bytes, document: "p.json")
    #expect(copy == profile)
    #expect(try copy.json() == bytes)
    #expect(copy.cost(node: "conv 3x3 f32", device: "vulkan:0")?.seconds == 0.004)
    #expect(copy.transfer(from: "cpu", to: "vulkan:0")?.seconds(bytes: 1_000_000) == 2e-5 + 1e-3)
    #expect(copy.transfer(from: "vulkan:0", to: "cpu") == nil)
  }

  @Test("unknown keys are ignored, and a later version is refused")
  func laterKeys() throws {
    let text = String(decoding: try profile.json(), as: UTF8.self)
    let extended = text.replacing("\"kelvinVersion\"", with: "\"added\" : {\"a\": [1]}, \"kelvinVersion\"")
    #expect(try MeasuredProfile(json: Array(extended.utf8), document: "p") == profile)
    let newer = text.replacing("\"version\" : 3,", with: "\"version\" : 4,")
    #expect(throws: MeasurementError.unsupportedVersion(document: "p", supported: 3, got: 4)) {
      try MeasuredProfile(json: Array(newer.utf8), document: "p")
    }
    let foreign = text.replacing("\"kelvin-profile\"", with: "\"recipe\"")
    #expect(throws: MeasurementError.foreignFormat(document: "p", expected: "kelvin-profile", got: "recipe")) {
      try MeasuredProfile(json: Array(foreign.utf8), document: "p")
    }
  }

  @Test("a cost's noise is judged from its interval")
  func noise() throws {
    let quiet = NodeCost(try LatencyStatistics((0..<30).map { 0.01 + 1e-5 * Double($0 % 3) }), source: .hostClock)
    #expect(!quiet.isNoisy)
    let loud = NodeCost(try LatencyStatistics((1...30).map { Double($0) }), source: .deviceTimestamps)
    #expect(loud.isNoisy)
    #expect(loud.seconds == 15)
    #expect(loud.samples == 30)
  }

  @Test("the newer measurement wins unless it is the noisier one")
  func merge() throws {
    var newer = profile
    newer.nodes = [
      "conv 3x3 f32": ["cpu": cost(0.002), "vulkan:0": cost(0.009, noisy: true)], "pool f32": ["cpu": cost(0.5)],
    ]
    newer.pace = [1: 9e8, 2: 7e8]
    newer.startup = ["digits": ["cpu": StartupCost(load: 0, compile: 0, firstRun: 0)]]
    let merged = try profile.merging(newer)
    #expect(merged.cost(node: "conv 3x3 f32", device: "cpu")?.seconds == 0.002)
    #expect(merged.cost(node: "conv 3x3 f32", device: "vulkan:0")?.seconds == 0.004)
    #expect(merged.cost(node: "relu f32", device: "cpu")?.seconds == 0.0001)
    #expect(merged.cost(node: "pool f32", device: "cpu")?.seconds == 0.5)
    #expect(Set(merged.startup.keys) == ["mobilenet", "digits"])
    #expect(merged.pace == [1: 9e8, 2: 7e8])
    #expect(try profile.merging(profile) == profile)
  }

  @Test("measurements of two drivers, two Kelvins or two machines are never mixed")
  func mergeStale() throws {
    var updated = profile
    updated.devices[1].version = "25.0"
    updated.nodes = ["relu f32": ["vulkan:0": cost(0.3)]]
    updated.transfers = []
    let merged = try profile.merging(updated)
    #expect(merged.cost(node: "conv 3x3 f32", device: "vulkan:0") == nil)
    #expect(merged.cost(node: "relu f32", device: "vulkan:0")?.seconds == 0.3)
    #expect(merged.cost(node: "conv 3x3 f32", device: "cpu")?.seconds == 0.001)
    #expect(merged.transfers.isEmpty)
    #expect(merged.device("vulkan:0")?.version == "25.0")

    var release = updated
    release.kelvinVersion = "2.0"
    #expect(try profile.merging(release).cost(node: "conv 3x3 f32", device: "cpu") == nil)

    var other = profile
    other.machine.processor = "Another CPU"
    #expect(throws: MeasurementError.self) { try profile.merging(other) }
    #expect(try profile.merging(other, acrossMachines: true).machine.processor == "Another CPU")
  }

  @Test("staleness names what changed, and removing it keeps the rest")
  func staleness() {
    #expect(profile.staleness(kelvinVersion: "1.0", machine: machine, devices: [cpu, gpu]).isEmpty)
    var driver = gpu
    driver.version = "25.0"
    let changed = profile.staleness(kelvinVersion: "1.0", machine: machine, devices: [cpu, driver])
    #expect(changed == [.driverChanged(id: "vulkan:0", measured: "Mesa 22.3.6", now: "Mesa 25.0")])
    #expect(changed[0].description == "vulkan:0 was measured with driver Mesa 22.3.6, now it has Mesa 25.0")
    let kept = profile.removing(changed)
    #expect(kept.devices == [cpu])
    #expect(kept.nodes.keys.sorted() == ["conv 3x3 f32", "relu f32"])
    #expect(kept.cost(node: "conv 3x3 f32", device: "vulkan:0") == nil)
    #expect(kept.startup.isEmpty)
    let absent = profile.staleness(kelvinVersion: "1.0", machine: machine, devices: [cpu])
    #expect(absent == [.deviceAbsent(id: "vulkan:0")])
    let kelvin = profile.staleness(kelvinVersion: "1.1", machine: machine, devices: [cpu, gpu])
    #expect(kelvin == [.kelvinChanged(measured: "1.0", now: "1.1")])
    #expect(profile.removing(kelvin).nodes.isEmpty)
  }

  @Test("impossible numbers and unknown devices are refused with their place")
  func invalid() throws {
    func rejects(_ place: String, _ change: (inout MeasuredProfile) -> Void) throws {
      var bad = profile
      change(&bad)
      let bytes = try bad.json()
      let error = #expect(throws: MeasurementError.self) { try MeasuredProfile(json: bytes, document: "p.json") }
      #expect(error?.description.hasPrefix("p.json: \(place)") == true, "\(String(describing: error))")
    }
    try rejects("nodes.relu f32.cpu.seconds") { $0.nodes["relu f32"] = ["cpu": cost(-1)] }
    try rejects("nodes.relu f32.opencl:0") { $0.nodes["relu f32"] = ["opencl:0": cost(1)] }
    try rejects("nodes.relu f32.cpu.samples") { $0.nodes["relu f32"]?["cpu"]?.samples = 0 }
    try rejects("nodes.relu f32.cpu.interval") { $0.nodes["relu f32"]?["cpu"]?.interval.lower = 1 }
    try rejects("nodes.relu f32.cpu.joules") { $0.nodes["relu f32"]?["cpu"]?.joules = -2 }
    try rejects("transfers.cpu→vulkan:0.bytesPerSecond") { $0.transfers[0].bytesPerSecond = 0 }
    try rejects("transfers.cpu→vulkan:0") { $0.transfers.append($0.transfers[0]) }
    try rejects("transfers.cpu→cpu") { $0.transfers[0].to = "cpu" }
    try rejects("devices") { $0.devices.append(cpu) }
    try rejects("startup.mobilenet.vulkan:0.compile") { $0.startup["mobilenet"]?["vulkan:0"]?.compile = -1 }
    try rejects("pace.2") { $0.pace[2] = 0 }
    var infinite = profile
    infinite.transfers[0].latency = .infinity
    #expect(throws: MeasurementError.self) { try infinite.json() }
  }

  @Test("every truncation and 2000 mutations of a profile end in a value or a typed error")
  func fuzz() throws {
    let bytes = try profile.json()
    for length in stride(from: 0, to: bytes.count - 1, by: 7) {
      #expect(throws: MeasurementError.self, "length \(length)") {
        try MeasuredProfile(json: Array(bytes.prefix(length)), document: "cut")
      }
    }
    var refused = 0
    for seed in UInt64(1)...2000 {
      var random = SeededGenerator(seed: seed)
      var mutated = bytes
      for _ in 0..<4 {
        let place = Int.random(in: mutated.indices, using: &random)
        mutated[place] = UInt8.random(in: 0...255, using: &random)
      }
      do throws(MeasurementError) {
        _ = try MeasuredProfile(json: mutated, document: "mutated")
      } catch {
        refused += 1
        #expect(error.description.hasPrefix("mutated: "), "seed \(seed)")
      }
    }
    #expect(refused > 700)
  }
}
