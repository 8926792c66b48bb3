import FoundationEssentials
import KelvinBasics
import KelvinPlanning
import Testing

@Suite struct PlanFileTests {
  private func plan() throws -> Plan {
    let explanation = try PlanningProblem(text: Golden.chain).explain()
    let subject = Plan.Subject(
      model: "Digits.mlpackage", modelKey: "k1", graph: "g1", machine: "m",
      devices: [
        .init(id: "cpu", name: "CPU", driver: "", version: ""),
        .init(id: "gpu", name: "GPU", driver: "d", version: "1"),
      ], units: "all", precision: "full")
    return Plan(explanation, of: subject, goal: .latency) { ("conv", [.init(name: "layer_\($0)", share: 1)], ["x"]) }
  }

  @Test func planRoundTripsThroughAFile() throws {
    let plan = try plan()
    let again = try Plan(json: try plan.json())
    #expect(again == plan)
    #expect(again.placement == ["a": "cpu", "b": "gpu", "c": "gpu", "d": "cpu"])
    #expect(again.bestSingleDevice == .init(device: "gpu", predicted: 72))
    #expect(again.nodes[1].transfers == [PlannedTransfer(value: "x", from: "cpu", to: "gpu", bytes: 8, seconds: 1)])
    #expect(again.nodes[1].candidates.map(\.seconds) == [40, 5])
  }

  @Test func documentHasItsKeys() throws {
    let text = String(decoding: try plan().json(), as: UTF8.self)
    for key in [
      "model", "units", "goal", "predicted", "bestSingleDevice", "nodes", "name", "op", "origins", "share", "device",
      "reason", "regret", "candidates", "seconds", "source", "transfers", "value", "from", "to", "bytes",
    ] {
      #expect(text.contains("\"\(key)\" :"), "\(key)")
    }
  }

  @Test func damagedPlanIsReadOrRefused() throws {
    let bytes = Array(try mixed().json())
    let replacements = Array("{}[]\",:0-9eE.null".utf8)
    var random = SeededGenerator(seed: 71_000)
    var (read, refused) = (0, 0)
    for _ in 0..<2_000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        damaged[Int.random(in: 0..<bytes.count, using: &random)] = replacements.randomElement(using: &random) ?? 0
      }
      do throws(PlanningError) {
        _ = try Plan(json: Data(damaged))
        read += 1
      } catch {
        #expect(!error.reason.isEmpty)
        refused += 1
      }
    }
    #expect(read > 100 && refused > 100)
  }

  @Test func anEditedPlanNeedsOnlyNamesAndDevices() throws {
    let text = #"{"version": 1, "nodes": [{"name": "a", "device": "cpu"}, {"name": "b", "device": "gpu"}]}"#
    let plan = try Plan(json: Data(text.utf8))
    try plan.check(modelKey: "any", graph: "any", nodes: ["a", "b"], devices: ["cpu", "gpu"])
    #expect(plan.placement == ["a": "cpu", "b": "gpu"])
  }

  @Test(
    arguments: [
      (#""version" : 1"#, #""version" : 2"#, PlanningError.Code.stale),
      (#""name" : "b""#, #""name" : "a""#, .duplicate),
      (#""id" : "gpu""#, #""id" : "cpu""#, .duplicate),
      (#""device" : "gpu""#, #""device" : "npu""#, .unknown),
      (#""predicted" : 32"#, #""predicted" : -32"#, .invalidNumber),
      (#""seconds" : 5"#, #""seconds" : -5"#, .invalidNumber),
      (#""bytes" : 8"#, #""bytes" : -8"#, .invalidNumber),
      (#""share" : 1"#, #""share" : -1"#, .invalidNumber),
      (#""nodes" : ["#, #""nods" : ["#, .malformed),
      (#""goal" : "latency""#, #""goal" : 3"#, .malformed),
    ] as [(String, String, PlanningError.Code)])
  func invalidFileIsRefused(part: String, replacement: String, code: PlanningError.Code) throws {
    let good = String(decoding: try plan().json(), as: UTF8.self)
    let text = good.replacing(part, with: replacement)
    #expect(text != good)
    let error = #expect(throws: PlanningError.self) { try Plan(json: Data(text.utf8)) }
    #expect(error?.code == code, "\(error?.description ?? "no error")")
  }

  /// The same plan with two plans that take turns.
  private func mixed() throws -> Plan {
    var plan = try plan()
    let turned = plan.placement.mapValues { $0 == "gpu" ? "cpu" : "gpu" }
    plan.mixture = PlanMixture(
      plans: [
        .init(share: 0.75, placement: plan.placement, transfers: plan.nodes.flatMap(\.transfers)),
        .init(share: 0.25, placement: turned),
      ], singlePlanSeconds: 4)
    return plan
  }

  @Test func mixtureRoundTripsThroughAFile() throws {
    let plan = try mixed()
    let again = try Plan(json: try plan.json())
    #expect(again == plan)
    #expect(
      again.placement == ["a": "cpu", "b": "gpu", "c": "gpu", "d": "cpu"], "readers without mixtures run this plan")
    let part = plan.asPart("graph", sampledSizes: nil, sampledValues: nil)
    #expect(part.mixture == nil && part.parts[0].mixture == plan.mixture)
    let file = try Plan(json: try part.json())
    #expect(file == part && file.part(named: "graph")?.mixture == plan.mixture)
    #expect(try Plan(json: try #require(file.part(named: "graph")).json()).mixture == plan.mixture)
  }

  @Test func aMixtureNeedsOnlySharesAndPlacements() throws {
    let text =
      #"{"version": 1, "nodes": [{"name": "a", "device": "cpu"}], "mixture": {"plans": ["#
      + #"{"share": 0.6, "placement": {"a": "cpu"}}, {"share": 0.4, "placement": {"a": "gpu"}}]}}"#
    let plan = try Plan(json: Data(text.utf8))
    #expect(plan.mixture?.plans.map(\.share) == [0.6, 0.4] && plan.usedDevices == ["cpu", "gpu"])
    #expect(plan.mixture?.text == "2 plans take turns: 60 % of the frames on cpu, 40 % on gpu")
  }

  /// Without a device, the plans that do not use it share all predictions; a single plan does not count as a mixture.
  @Test func plansWithoutAFailedDeviceShareItsPredictions() throws {
    var plan = try mixed()
    let names = plan.placement.keys
    plan.mixture?.plans = [("cpu", 0.5), ("gpu", 0.25), ("npu", 0.25)].map { device, share in
      .init(share: share, placement: Dictionary(uniqueKeysWithValues: names.map { ($0, device) }))
    }
    let kept = try #require(plan.keeping { !$0.values.contains("gpu") })
    let sums = try #require(kept.mixture).plans.map(\.share)
    #expect(zip(sums, [2.0 / 3, 1.0 / 3]).allSatisfy { abs($0 - $1) < 1e-12 }, "\(sums)")
    #expect(Set(kept.placement.values) == ["cpu"], "the single plan uses the device too")
    #expect(plan.keeping { !$0.values.contains("gpu") && !$0.values.contains("npu") } == nil)
    #expect(plan.keeping { _ in true } == plan)
  }

  @Test(
    arguments: [
      (#""share" : 0.25"#, #""share" : 0"#, PlanningError.Code.invalidNumber),
      (#""share" : 0.25"#, #""share" : -0.25"#, .invalidNumber),
      (#""share" : 0.25"#, #""share" : 1.25"#, .invalidNumber),
      (#""share" : 0.25"#, #""share" : 0.5"#, .invalidNumber),
      (#""share" : 0.25"#, #""share" : "0.25""#, .malformed),
      (#""share" : 0.25"#, #""part" : 0.25"#, .malformed),
      (#""singlePlanSeconds" : 4"#, #""singlePlanSeconds" : -4"#, .invalidNumber),
      (#""a" : "gpu""#, #""a" : "npu""#, .unknown),
      (#""a" : "gpu""#, #""e" : "gpu""#, .missing),
      (#""a" : "gpu""#, #""a" : "gpu", "e" : "gpu""#, .unknown),
      (#""a" : "gpu""#, #""a" : 3"#, .malformed),
    ] as [(String, String, PlanningError.Code)])
  func invalidMixtureIsRefused(part: String, replacement: String, code: PlanningError.Code) throws {
    let good = String(decoding: try mixed().json(), as: UTF8.self)
    let text = good.replacing(part, with: replacement)
    #expect(text != good)
    let error = #expect(throws: PlanningError.self) { try Plan(json: Data(text.utf8)) }
    #expect(error?.code == code, "\(error?.description ?? "no error")")
  }

  @Test(arguments: [0, 1, 65, 10_000]) func numberOfPlansIsLimited(count: Int) throws {
    var plan = try mixed()
    let placement = plan.placement
    plan.mixture?.plans = (0..<count).map { _ in .init(share: 1 / Double(max(count, 2)), placement: placement) }
    let file = try plan.json()
    let error = #expect(throws: PlanningError.self) { try Plan(json: file) }
    #expect(error?.code == .invalidNumber, "\(error?.description ?? "no error")")
  }

  @Test func planOfAnotherModelGraphOrMachineIsRefused() throws {
    let plan = try plan()
    let names = ["a", "b", "c", "d"]
    try plan.check(modelKey: "k1", graph: "g1", nodes: names, devices: ["cpu", "gpu"])
    func code(_ key: String, _ graph: String, _ names: [String], _ devices: [String]) -> PlanningError.Code? {
      #expect(throws: PlanningError.self) {
        try plan.check(modelKey: key, graph: graph, nodes: names, devices: devices)
      }?.code
    }
    #expect(code("k2", "g1", names, ["cpu", "gpu"]) == .stale)
    #expect(code("k1", "g2", names, ["cpu", "gpu"]) == .stale)
    #expect(code("k1", "g1", names + ["e"], ["cpu", "gpu"]) == .stale)
    #expect(code("k1", "g1", ["a", "b", "c"], ["cpu", "gpu"]) == .stale)
    #expect(code("k1", "g1", names, ["cpu"]) == .unknown)
  }
}
