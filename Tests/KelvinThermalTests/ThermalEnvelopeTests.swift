import FoundationEssentials
import KelvinMeasurements
import KelvinThermal
import Testing

@Suite("Thermal envelopes")
struct ThermalEnvelopeTests {
  static let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Profiles/thermal"

  static func load(_ name: String) throws -> ThermalEnvelope {
    let text = try #require(SystemFiles(root: folder).text("\(name).json"))
    return try ThermalEnvelope(json: Array(text.utf8), document: "\(name).json")
  }

  static let fixed = ThermalEnvelope(
    name: "fixed", summary: "for tests", fast: ThermalPole(weight: 0.5, tau: 5),
    slow: ThermalPole(weight: 0.5, tau: 120), idleWatts: 2, sustainableWatts: 10, fullLoadWatts: 22,
    sources: Dictionary(uniqueKeysWithValues: ThermalEnvelope.coefficients.map { ($0, "fixed by the test") }))

  @Test("every envelope shipped is valid, named after its file, and cooler classes sustain less")
  func shipped() throws {
    let names = ["phone", "fanless-board", "fanless-laptop", "laptop", "desktop", "server"]
    #expect(Set(SystemFiles(root: Self.folder).names(in: "")) == Set(names.map { "\($0).json" }))
    let envelopes = try names.map { try Self.load($0) }
    #expect(envelopes.map(\.name) == names)
    #expect(envelopes.map(\.sustainableWatts) == envelopes.map(\.sustainableWatts).sorted())
    for envelope in envelopes {
      #expect(Set(envelope.sources.keys).subtracting(["processors"]) == Set(ThermalEnvelope.coefficients))
    }
  }

  @Test("an envelope survives writing and reading")
  func roundTrip() throws {
    let bytes = try Self.fixed.json()
    #expect(try ThermalEnvelope(json: bytes, document: "copy") == Self.fixed)
  }

  @Test("power follows utilisation and clock; at rest the model stands at idle power")
  func power() {
    #expect(Self.fixed.watts(utilisation: 0.5) == 12)
    #expect(Self.fixed.watts(utilisation: 7) == 22)
    #expect(Self.fixed.watts(utilisation: .nan) == 2)
    #expect(Self.fixed.watts(utilisation: 1, clockRatio: 0.5, exponent: 2) == 7)
    #expect(abs(Self.fixed.model().headroom - 0.2) < 1e-12)
    #expect(Self.fixed.model().timeToLimit(load: Self.fixed.load(watts: 10)) == .infinity)
  }

  @Test("impossible coefficients are refused by name")
  func invalid() throws {
    func rejects(_ place: String, _ change: (inout ThermalEnvelope) -> Void) throws {
      var envelope = Self.fixed
      change(&envelope)
      let bytes = try envelope.json()
      let error = #expect(throws: MeasurementError.self) { try ThermalEnvelope(json: bytes, document: "bad.json") }
      #expect(error?.description.hasPrefix("bad.json: \(place)") == true, "\(String(describing: error))")
    }
    try rejects("fast.tau") { $0.fast.tau = 0 }
    try rejects("fast.weight + slow.weight") { $0.fast.weight = 0.9 }
    try rejects("fast.tau") { $0.slow.tau = 5 }
    try rejects("sustainableWatts") { $0.sustainableWatts = 1 }
    try rejects("idleWatts") { $0.idleWatts = -1 }
    try rejects("sources.slow.tau") { $0.sources["slow.tau"] = nil }
  }

  @Test("foreign, newer, oversized and broken documents are told apart")
  func hostile() throws {
    func read(_ text: String) -> MeasurementError? {
      #expect(throws: MeasurementError.self) { try ThermalEnvelope(json: Array(text.utf8), document: "f") }
    }
    #expect(
      read("{\"format\": \"recipe\", \"version\": 1}")
        == .foreignFormat(document: "f", expected: "kelvin-thermal-envelope", got: "recipe"))
    #expect(
      read("{\"format\": \"kelvin-thermal-envelope\", \"version\": 9}")
        == .unsupportedVersion(document: "f", supported: 1, got: 9))
    let long = String(repeating: " ", count: 1 << 21)
    #expect(read(long) == .documentTooLarge(document: "f", bytes: 1 << 21, limit: 1 << 20))
    for text in ["", "[]", "null", "{", "\u{0}", "{\"format\": 3}", String(repeating: "[", count: 100_000)] {
      guard case .malformed = read(text) else {
        Issue.record("\(text.prefix(20))")
        continue
      }
    }
  }

  @Test("a guest counts its share of the server's power")
  func share() throws {
    let guest = MachineDescription(
      processor: "a server's", architecture: "x86_64", logicalCores: 2, memoryBytes: 1 << 30, kernel: "6",
      isVirtualised: true)
    let (whole, own) = (ThermalEnvelope.server, ThermalEnvelope.server.share(of: guest))
    let processors = Double(try #require(whole.processors))
    #expect(abs(own.fullLoadWatts - whole.fullLoadWatts * 2 / processors) < 1e-9)
    #expect(abs(own.idleWatts - whole.idleWatts * 2 / processors) < 1e-9)
    #expect(own.name == "2/112 of server")
    #expect(abs(own.load(watts: own.watts(utilisation: 0.7)) - whole.load(watts: whole.watts(utilisation: 0.7))) < 1e-9)
    var host = guest
    host.isVirtualised = false
    #expect(whole.share(of: host) == whole)
    #expect(ThermalEnvelope.desktop.share(of: guest) == .desktop)
  }
}
