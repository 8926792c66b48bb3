import FoundationEssentials
import KelvinBasics
import KelvinPlanning
import Testing

@Suite struct ProblemDocumentTests {
  @Test func problemRoundTrips() throws {
    for seed in UInt64(60_000)..<60_050 {
      var made = RandomProblem(seed: seed, devices: 3)
      guard let problem = try? PlanningProblem(text: made.json(nodes: 6)) else { continue }
      let again = try PlanningProblem(json: try JSONEncoder().encode(problem))
      #expect(again == problem)
    }
  }

  @Test func invalidNumberIsNamedWithItsPlace() {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"start\": {\"devices\": {\"gpu\": \"soon\"}}")
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text) }
    #expect(error?.subject == "planning problem.start.devices.gpu")
    let negative = Golden.chain.replacing("\"latency\": 1}]", with: "\"latency\": 1, \"watts\": -3}]")
    #expect(
      #expect(throws: PlanningError.self) { try PlanningProblem(text: negative) }?.subject == "transfers[1].watts")
  }

  @Test func startPowerAndEnergiesRoundTrip() throws {
    for (goal, seed) in [(Goal.oneShot, UInt64(61_000)), (.sustained, 61_100), (.throughput, 61_200)] {
      for seed in seed..<seed + 20 {
        var made = RandomProblem(seed: seed, devices: 3)
        guard let problem = try? PlanningProblem(text: made.json(nodes: 5, goal: goal)) else { continue }
        #expect(try PlanningProblem(json: try JSONEncoder().encode(problem)) == problem)
      }
    }
  }

  @Test func solutionDocumentHasItsKeys() throws {
    let solution = try PlanningProblem(text: Golden.chain).solve()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text = String(decoding: try encoder.encode(solution), as: UTF8.self)
    #expect(
      text.contains(
        #""gap":0,"lowerBound":32,"method":"exact","objective":32,"placement":{"a":"cpu","b":"gpu","c":"gpu","d":"cpu"},"#
      ))
    #expect(text.contains(#"{"bytes":8,"from":"cpu","node":"b","seconds":1,"to":"gpu","value":"x"}"#))
  }

  @Test func everyOptionalKeyIsRead() throws {
    let text = Golden.chain.replacing(
      "\"pins\": {}",
      with: """
        "goal": "latency", "pins": {"a": "cpu"}, "exclude": [], "memory": {"gpu": 1000}, "joules": {"a": {"cpu": 2}},
        "boundarySeconds": {"gpu": 3}, "resource": {"cpu": "package-0"}, "remark": "extra keys are welcome"
        """)
    let problem = try PlanningProblem(text: text)
    #expect(problem.nodes[0].joules == ["cpu": 2])
    #expect(problem.resource == ["cpu": "package-0"])
    #expect(try problem.solve().predicted == 35)
  }

  @Test(
    arguments: [
      ("\"host\": \"cpu\"", "\"host\": \"tpu\"", PlanningError.Code.unknown),
      ("[\"cpu\", \"gpu\"]", "[\"cpu\", \"gpu\", \"cpu\"]", .duplicate),
      ("[\"cpu\", \"gpu\"]", "[]", .unknown),
      ("[\"cpu\", \"gpu\"]", "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]", .limit),
      ("\"id\": \"b\"", "\"id\": \"a\"", .duplicate),
      ("{\"value\": \"y\", \"bytes\": 8}", "{\"value\": \"x\", \"bytes\": 8}", .duplicate),
      ("{\"value\": \"y\", \"bytes\": 8}", "{\"value\": \"y\", \"bytes\": -8}", .invalidNumber),
      ("{\"value\": \"y\", \"bytes\": 8}", "{\"value\": \"y\", \"bytes\": 9e18}", .invalidNumber),
      ("{\"value\": \"y\", \"bytes\": 8}", "{\"value\": \"y\", \"bytes\": 1e300}", .malformed),
      ("\"inputs\": [\"y\"]", "\"inputs\": [\"nowhere\"]", .unknown),
      ("\"inputs\": [\"x\"]", "\"inputs\": [\"z\"]", .cycle),
      ("\"inputs\": [\"x\"]", "\"inputs\": [\"y\"]", .cycle),
      ("\"outputs\": [\"out\"]", "\"outputs\": [\"nothing\"]", .unknown),
      ("\"gpu\": 30", "\"tpu\": 30", .unknown),
      ("\"gpu\": 30", "\"gpu\": -1", .invalidNumber),
      ("\"gpu\": 30", "\"gpu\": 1e300", .invalidNumber),
      ("\"gpu\": 30", "\"gpu\": 1e999", .malformed),
      ("\"gpu\": 30", "\"gpu\": null", .malformed),
      ("\"gpu\": 30", "\"gpu\": \"NaN\"", .malformed),
      ("\"latency\": 1}", "\"latency\": -1}", .invalidNumber),
      ("\"latency\": 1}", "\"latency\": 1, \"bytesPerSecond\": 0}", .invalidNumber),
      ("\"from\": \"gpu\", \"to\": \"cpu\"", "\"from\": \"cpu\", \"to\": \"gpu\"", .duplicate),
      ("\"pins\": {}", "\"pins\": {\"zz\": \"cpu\"}", .unknown),
      ("\"pins\": {}", "\"pins\": {\"a\": \"tpu\"}", .unknown),
      ("\"pins\": {}", "\"pins\": {\"a\": \"gpu\"}, \"exclude\": [\"gpu\"]", .infeasible),
      ("\"pins\": {}", "\"exclude\": [\"tpu\"]", .unknown),
      ("\"pins\": {}", "\"memory\": {\"gpu\": -1}", .invalidNumber),
      ("\"pins\": {}", "\"memory\": {\"tpu\": 1}", .unknown),
      ("\"pins\": {}", "\"joules\": {\"zz\": {}}", .unknown),
      ("\"pins\": {}", "\"joules\": {\"a\": {\"cpu\": -1}}", .invalidNumber),
      ("\"pins\": {}", "\"boundarySeconds\": {\"gpu\": -1}", .invalidNumber),
      ("\"pins\": {}", "\"goal\": \"speed\"", .unknown),
      ("\"pins\": {}", "\"start\": {\"load\": -1}", .invalidNumber),
      ("\"pins\": {}", "\"start\": {\"load\": 1e300}", .invalidNumber),
      ("\"pins\": {}", "\"start\": {\"runs\": -1}", .invalidNumber),
      ("\"pins\": {}", "\"start\": {\"runs\": 9000000000000000000}", .invalidNumber),
      ("\"pins\": {}", "\"start\": {\"runs\": 1.5}", .malformed),
      ("\"pins\": {}", "\"start\": {\"devices\": {\"tpu\": 1}}", .unknown),
      ("\"pins\": {}", "\"start\": {\"devices\": {\"gpu\": -1}}", .invalidNumber),
      ("\"pins\": {}", "\"start\": 1", .malformed),
      ("\"pins\": {}", "\"power\": {\"idleWatts\": 1}", .malformed),
      ("\"pins\": {}", "\"power\": {\"idleWatts\": -1, \"sustainableWatts\": 1}", .invalidNumber),
      ("\"pins\": {}", "\"power\": {\"idleWatts\": 2, \"sustainableWatts\": 2}", .invalidNumber),
      ("\"pins\": {}", "\"power\": {\"idleWatts\": 2, \"sustainableWatts\": 1e300}", .invalidNumber),
      ("\"latency\": 1}", "\"latency\": 1, \"watts\": -1}", .invalidNumber),
      ("\"latency\": 1}", "\"latency\": 1, \"watts\": \"NaN\"}", .malformed),
      ("\"gpu\": 30}", "\"gpu\": 30}, \"startSeconds\": {\"gpu\": -1}", .invalidNumber),
      ("\"gpu\": 30}", "\"gpu\": 30}, \"startSeconds\": {\"tpu\": 1}", .unknown),
      ("\"gpu\": 30}", "\"gpu\": 30}, \"joules\": {\"gpu\": 1e300}", .invalidNumber),
      ("\"nodes\": [", "\"nodes\": {", .malformed),
    ] as [(String, String, PlanningError.Code)])
  func invalidDocumentIsRefused(part: String, replacement: String, code: PlanningError.Code) {
    let text = Golden.chain.replacing(part, with: replacement)
    #expect(text != Golden.chain)
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text) }
    #expect(error?.code == code, "\(error?.description ?? "no error")")
  }

  @Test(
    arguments: [
      ("\"pins\"", "\"resoruce\"", "planning problem", "resource"),
      ("\"pins\"", "\"gaol\"", "planning problem", "goal"),
      ("\"latency\": 1}]", "\"latncy\": 1}]", "planning problem.transfers[1]", "latency"),
      (
        "\"bytes\": 8}], \"outputs\": [\"out\"]", "\"byte\": 8}], \"outputs\": [\"out\"]", "planning problem.inputs[0]",
        "bytes"
      ),
      ("\"inputs\": [\"y\"]", "\"input\": [\"y\"]", "planning problem.nodes[2]", "inputs"),
      ("{\"value\": \"z\"", "{\"valu\": \"z\"", "planning problem.nodes[2].outputs[0]", "value"),
      ("\"pins\": {}", "\"start\": {\"run\": 1}", "planning problem.start", "runs"),
      ("\"pins\": {}", "\"power\": {\"idleWatt\": 1}", "planning problem.power", "idleWatts"),
    ])
  func misspelledKeyErrorSuggestsTheKnownKey(part: String, replacement: String, place: String, known: String) {
    let text = Golden.chain.replacing(part, with: replacement)
    #expect(text != Golden.chain)
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text) }
    #expect(error?.code == .unknown)
    #expect(error?.subject == place)
    #expect(error?.remedy == "'\(known)' is one")
  }

  @Test func unknownKeysAreRemarksWithTheirPlace() throws {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"author\": \"me\"")
      .replacing("\"id\": \"a\"", with: "\"op\": \"conv\", \"id\": \"a\"")
      .replacing("\"id\": \"c\"", with: "\"op\": \"conv\", \"id\": \"c\"")
    let (problem, remarks) = try PlanningProblem.read(Data(text.utf8))
    #expect(problem == (try PlanningProblem(text: Golden.chain)))
    #expect(
      remarks == [
        "planning problem: no key is called 'author', it is ignored",
        "planning problem.nodes[0] and one other place: no key is called 'op', it is ignored",
      ])
    #expect(try PlanningProblem.read(Data(Golden.chain.utf8)).remarks.isEmpty)
  }

  @Test func everyTruncationIsRefused() {
    let bytes = Array(Golden.relay.utf8)
    for length in 0..<bytes.count {
      #expect(throws: PlanningError.self) { try PlanningProblem(json: Data(bytes[..<length])) }
    }
  }

  @Test func damagedBytesAndDeepNestingAreHandled() {
    var random = SeededGenerator(seed: 70_000)
    let bytes = Array(Golden.relay.utf8)
    let replacements = Array("{}[]\",:0-9eE.null".utf8)
    var read = 0
    for _ in 0..<3_000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        damaged[Int.random(in: 0..<bytes.count, using: &random)] = replacements.randomElement(using: &random) ?? 0
      }
      do throws(PlanningError) {
        let problem = try PlanningProblem(json: Data(damaged))
        for goal in Goal.allCases {
          let asked = try problem.with(
            goal: goal, start: .init(load: 1, runs: 3), power: .init(idleWatts: 1, sustainableWatts: 2))
          if goal == .sustained, asked.nodes.contains(where: { $0.joules.isEmpty }) { continue }
          let solution = try asked.solve()
          read += solution.objective.isFinite ? 1 : 0
        }
      } catch {
        #expect(!error.reason.isEmpty)
      }
    }
    #expect(read > 0)
    let deep = String(repeating: "[", count: 200_000)
    #expect(throws: PlanningError.self) { try PlanningProblem(text: deep) }
    #expect(throws: PlanningError.self) { try PlanningProblem(text: "{\"devices\":" + deep) }
  }

  @Test func problemWithoutNodesIsSolved() throws {
    let text =
      #"{"devices":["cpu"],"host":"cpu","transfers":[],"inputs":[{"value":"x","bytes":1}],"outputs":["x"],"nodes":[]}"#
    let problem = try PlanningProblem(text: text)
    #expect(try problem.solve().predicted == 0)
    #expect(try problem.explain().nodes.isEmpty)
  }
}
