import FoundationEssentials
import KelvinBench
import KelvinMeasurements
import KelvinThermal
import Testing

struct WorkloadTests {
  private static let root = String(#filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 })

  @Test(arguments: workloads) func shippedFilesAreTheNamedOnes(workload: Workload) throws {
    let file = "\(Self.root)/Profiles/workloads/\(workload.name).json"
    #expect(try Workload(named: file) == workload)
    #expect(try Workload(named: workload.name) == workload)
  }

  @Test func everyShippedFileIsValid() throws {
    let names = SystemFiles(root: Self.root).names(in: "Profiles/workloads").filter { $0.hasSuffix(".json") }
    #expect(names.count >= 5)
    for name in names { _ = try Workload(named: "\(Self.root)/Profiles/workloads/\(name)") }
  }

  @Test(arguments: workloads) func writingAndReadingChangesNothing(workload: Workload) throws {
    let copy = try Workload(json: try JSONEncoder().encode(workload), document: "copy")
    #expect(copy == workload)
  }

  @Test func everyKeySurvivesBeingWrittenAndRead() throws {
    let mine = Workload(
      name: "mine", summary: "one", kind: .stream, coldStarts: 3, starts: 4, iterations: 5, warmSeconds: 0.5,
      warmUps: 6, framesPerSecond: 7, duration: 8, queue: 9, isGoverned: true, reserve: ["cpu": 0.25],
      coload: ["vulkan:0": 0.5])
    #expect(try Workload(json: try JSONEncoder().encode(mine), document: "mine") == mine)
    var crowded = mine
    crowded.memoryTraffic = 4e9
    crowded.cachePressure = 16_000_000
    #expect(try Workload(json: try JSONEncoder().encode(crowded), document: "crowded") == crowded)
    #expect(crowded.scenario.hasSuffix("4 GB/s of memory traffic by others, 16 MB of the caches used by others"))
    let text = Workload(name: "text", kind: .tokens, duration: 3, prompt: 4, tokens: 5)
    #expect(try Workload(json: try JSONEncoder().encode(text), document: "text") == text)
    #expect(text.description == "tokens: 5 behind a prompt of 4, one sequence after another for 3 s")
    let pile = Workload(name: "pile", kind: .throughput, inFlight: 3)
    #expect(try Workload(json: try JSONEncoder().encode(pile), document: "pile") == pile)
  }

  @Test func missingKeysHaveTheDefaultsOfTheKind() throws {
    let text = #"{"format":"kelvin-workload","version":1,"name":"mine","kind":"stream","fps":12.5}"#
    let mine = try Workload(json: Data(text.utf8), document: "mine.json")
    #expect(mine.framesPerSecond == 12.5)
    #expect(mine.duration == 20)
  }

  @Test(arguments: [
    (#""#, "not JSON"), (#"[1,2]"#, ""), (#"{"format":"kelvin-workload"}"#, "version"),
    (#"{"format":"other","version":1,"name":"x","kind":"stream"}"#, "kelvin-workload"),
    (#"{"format":"kelvin-workload","version":9,"name":"x","kind":"stream"}"#, "version 9"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"burst"}"#, "one-shot, stream, throughput, tokens"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","prompt":4}"#, "prompt"),
    (
      #"{"format":"kelvin-workload","version":1,"name":"x","kind":"tokens","tokens":1}"#, "expected 2 to 1000000, got 1"
    ),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"tokens","prompt":0}"#, "prompt"),
    (
      #"{"format":"kelvin-workload","version":1,"name":"x","kind":"tokens","iterations":9}"#,
      "does not apply to a tokens"
    ),

    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","fps":0}"#, "fps"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","fps":"fast"}"#, "fps"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","duration":1e300}"#, "duration"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","duration":-1}"#, "duration"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","queue":0}"#, "queue"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"one-shot","iterations":99999999999}"#, "iterations"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"one-shot","iteration":5}"#, "iteration"),
    (
      #"{"format":"kelvin-workload","version":1,"name":"x","kind":"one-shot","fps":5}"#,
      "does not apply to a one-shot workload"
    ),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","inFlight":2}"#, "remove it"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"throughput","governor":true}"#, "governor"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","reserve":{"cpu":1}}"#, "share of cpu"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"cpu":-0.1}}"#, "coload"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"":0.1}}"#, "no name"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":[0.1]}"#, "coload"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"memory":4}}"#, "coload.memory"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"memory":"4GB"}}"#, "4GB/s"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"memory":"9e9TB/s"}}"#, "4GB/s"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"cache":"-1MB"}}"#, "16MB"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"cache":"9GB"}}"#, "1 GiB"),
    (
      #"{"format":"kelvin-workload","version":1,"name":"x","kind":"stream","coload":{"cpu":0.5},"reserve":{"cpu":0.5}}"#,
      "too little of cpu"
    ),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"throughput","inFlight":65}"#, "inFlight"),
    (#"{"format":"kelvin-workload","version":1,"name":"x","kind":"one-shot","warmSeconds":-1}"#, "warmSeconds"),
  ])
  func hostileFilesEndInOneClearError(text: String, says: String) throws {
    let error = #expect(throws: BenchmarkError.self) { try Workload(json: Data(text.utf8), document: "bad.json") }
    let description = try #require(error).description
    #expect(description.contains("bad.json"))
    #expect(description.contains(says), "\(description)")
  }

  @Test func deepNestingAndLargeFilesAreRefused() {
    let deep = String(repeating: "[", count: 20_000)
    #expect(throws: BenchmarkError.self) { try Workload(json: Data(deep.utf8), document: "deep") }
    #expect(throws: BenchmarkError.self) { try Workload(json: Data(count: 1 << 20), document: "large") }
  }

  @Test func anUnknownNameListsTheKnownOnes() throws {
    let error = #expect(throws: BenchmarkError.self) { try Workload(named: "sprint") }
    #expect(try #require(error).description.contains("one-shot, stream, throughput, tokens"))
    #expect(throws: BenchmarkError.self) { try Workload(named: "/nowhere/at/all.json") }
  }

  @Test(arguments: [ThermalEnvelope.server, .desktop]) func assumedEnvelopesAreTheShippedOnes(envelope: ThermalEnvelope)
    throws
  {
    let text = try #require(SystemFiles(root: Self.root).text("Profiles/thermal/\(envelope.name).json"))
    var shipped = try ThermalEnvelope(json: Array(text.utf8), document: envelope.name)
    shipped.sources = envelope.sources
    #expect(shipped == envelope)
  }
}
