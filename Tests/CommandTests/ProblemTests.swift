import KelvinBasics
import TestSupport
import Testing

/// `kelvin plan --problem` against every placement there is.
@Suite struct ProblemTests {
  @Test(arguments: Tier.some(6, of: 1..<25 as Range<UInt64>))
  func resultIsTheBestOfAllPlacements(seed: UInt64) throws {
    let problem = SmallProblem(seed: seed)
    let folder = TemporaryFolder()
    let result = Kelvin.run("plan", "--problem", folder.write(problem.json, "problem.json"))
    guard let best = problem.leastSeconds() else {
      #expect(result.status == 65, "seed \(seed): \(result)")
      return
    }
    #expect(result.status == 0, "seed \(seed): \(result)\n\(problem.json)")
    let answer = try JSONValue(result.output)
    let predicted = try #require(answer["predicted"]?.number)
    #expect(abs(predicted - best) < 1e-9, "seed \(seed): \(predicted), the best is \(best)\n\(problem.json)")
    #expect(answer["method"]?.text == "exact")
    #expect(answer["gap"]?.number == 0)
    let placement = try #require(answer["placement"]?.object)
    #expect(Set(placement.keys) == Set(problem.nodes.map(\.id)))
    var sum = try #require(answer["transfers"]?.array).reduce(0) { $0 + ($1["seconds"]?.number ?? .nan) }
    for node in problem.nodes { sum += node.seconds[placement[node.id]?.text ?? ""] ?? .nan }
    #expect(abs(sum - predicted) < 1e-9, "seed \(seed): nodes and transfers make \(sum)")
  }

  @Test func anInfeasibleProblemNamesTheNode() {
    let result = run(
      """
      {"devices": ["a"], "host": "a", "transfers": [], "inputs": [{"value": "x", "bytes": 4}], "outputs": ["y"],
       "nodes": [{"id": "lonely", "inputs": ["x"], "outputs": [{"value": "y", "bytes": 4}], "seconds": {}}]}
      """)
    #expect(result.status == 65)
    #expect(result.errorLines.count == 1 && result.errors.contains("lonely"), "\(result)")
    #expect(result.output.isEmpty)
  }

  @Test(arguments: [
    "", "{", "[]", "{}", "{\"devices\": [], \"host\": \"a\"}",
    "{\"devices\": [\"a\"], \"host\": \"b\", \"transfers\": [], \"inputs\": [], \"outputs\": [], \"nodes\": []}",
    "{\"devices\": [\"a\"], \"host\": \"a\", \"transfers\": [], \"inputs\": [], \"outputs\": [\"y\"], \"nodes\": []}",
  ])
  func malformedProblemIsRefused(text: String) {
    let result = run(text)
    #expect(result.status == 65, "\(text): \(result)")
    #expect(result.errorLines.count == 1, "\(text): \(result)")
  }

  @Test func pinsAndExclusionsAreKept() throws {
    let problem = """
      {"devices": ["a", "b"], "host": "a",
       "transfers": [{"from": "a", "to": "b", "latency": 1, "bytesPerSecond": 4},
                     {"from": "b", "to": "a", "latency": 1, "bytesPerSecond": 4}],
       "inputs": [{"value": "x", "bytes": 4}], "outputs": ["y"],
       "nodes": [{"id": "n", "inputs": ["x"], "outputs": [{"value": "y", "bytes": 4}], "seconds": {"a": 1, "b": 1}}]
      """
    let free = try JSONValue(run(problem + "}").output)
    #expect(free["placement"]?["n"]?.text == "a" && free["predicted"]?.number == 1)
    let pinned = try JSONValue(run(problem + ", \"pins\": {\"n\": \"b\"}}").output)
    #expect(pinned["placement"]?["n"]?.text == "b" && pinned["predicted"]?.number == 5)
    let excluded = try JSONValue(run(problem + ", \"exclude\": [\"a\"]}").output)
    #expect(excluded["placement"]?["n"]?.text == "b")
  }

  @Test func mistypedKeyIsAnErrorAndUnknownKeyANote() throws {
    let problem = """
      {"devices": ["a"], "host": "a", "transfers": [], "inputs": [], "outputs": ["y"],
       "nodes": [{"id": "n", "inputs": [], "outputs": [{"value": "y", "bytes": 4}], "seconds": {"a": 1}}]
      """
    let strange = run(problem + ", \"colour\": \"red\"}")
    #expect(strange.status == 0 && strange.errors.contains("'colour'"), "\(strange)")
    #expect(try JSONValue(strange.output)["predicted"]?.number == 1)
    let mistyped = run(problem + ", \"resoruce\": {\"a\": \"chip\"}}")
    #expect(mistyped.status == 65 && mistyped.errors.contains("'resource'"), "\(mistyped)")
    #expect(mistyped.output.isEmpty)
  }

  private func run(_ text: String) -> ToolResult {
    let folder = TemporaryFolder()
    return Kelvin.run("plan", "--problem", folder.write(text, "problem.json"))
  }
}

/// Up to five nodes on up to three devices, some pairs of which are not connected.
private struct SmallProblem {
  struct Node {
    var id: String
    var inputs: [Int]
    var seconds: [String: Double]
  }

  let devices: [String]
  /// Seconds of latency and bytes a second, by from and to.
  var links: [String: [String: (latency: Double, bytesPerSecond: Double)]] = [:]
  /// Value 0 is the input; value i + 1 is what node i makes.
  var bytes: [Int]
  var nodes: [Node] = []
  var outputs: Set<Int>

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func number(_ range: Range<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.count)) }
    devices = (0..<number(2..<4)).map { "d\($0)" }
    let count = number(2..<6)
    bytes = (0...count).map { _ in number(1..<1000) }
    for from in devices {
      for to in devices where from != to && number(0..<5) > 0 {
        links[from, default: [:]][to] = (Double(number(0..<20)) / 8, Double(number(100..<900)))
      }
    }
    for index in 0..<count {
      let inputs = Set((0..<number(1..<3)).map { _ in number(0..<index + 1) }).sorted()
      var seconds: [String: Double] = [:]
      for device in devices where number(0..<5) > 0 { seconds[device] = Double(number(1..<80)) / 8 }
      nodes.append(Node(id: "n\(index)", inputs: inputs, seconds: seconds))
    }
    outputs = [count]
    if number(0..<3) == 0 { outputs.insert(number(1..<count + 1)) }
  }

  var json: String {
    let transfers = links.flatMap { from, targets in
      targets.map {
        "{\"from\": \"\(from)\", \"to\": \"\($0)\", \"latency\": \($1.latency), \"bytesPerSecond\": \($1.bytesPerSecond)}"
      }
    }
    let records = nodes.enumerated().map { index, node in
      let inputs = node.inputs.map { "\"v\($0)\"" }.joined(separator: ", ")
      let seconds = node.seconds.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
      return "{\"id\": \"\(node.id)\", \"inputs\": [\(inputs)], \"outputs\": [{\"value\": \"v\(index + 1)\", "
        + "\"bytes\": \(bytes[index + 1])}], \"seconds\": {\(seconds)}}"
    }
    return """
      {"devices": [\(devices.map { "\"\($0)\"" }.joined(separator: ", "))], "host": "d0",
       "transfers": [\(transfers.joined(separator: ", "))], "inputs": [{"value": "v0", "bytes": \(bytes[0])}],
       "outputs": [\(outputs.sorted().map { "\"v\($0)\"" }.joined(separator: ", "))],
       "nodes": [\(records.joined(separator: ", "))]}
      """
  }

  /// The least total over every placement; nil where none is possible.
  func leastSeconds() -> Double? {
    var best: Double?
    var placement = [Int](repeating: 0, count: nodes.count)
    while true {
      if let seconds = seconds(placement.map { devices[$0] }), seconds < best ?? .infinity { best = seconds }
      guard let place = placement.indices.first(where: { placement[$0] < devices.count - 1 }) else { return best }
      placement[place] += 1
      for lower in 0..<place { placement[lower] = 0 }
    }
  }

  private func seconds(_ placement: [String]) -> Double? {
    var total = 0.0
    for (node, device) in zip(nodes, placement) {
      guard let seconds = node.seconds[device] else { return nil }
      total += seconds
    }
    for value in bytes.indices {
      let home = value == 0 ? "d0" : placement[value - 1]
      var wanted = Set(nodes.indices.filter { nodes[$0].inputs.contains(value) }.map { placement[$0] })
      if outputs.contains(value) { wanted.insert("d0") }
      guard let copies = copies(of: bytes[value], from: home, to: wanted) else { return nil }
      total += copies
    }
    return total
  }

  /// The cheapest set of links that reaches every wanted device.
  private func copies(of bytes: Int, from home: String, to wanted: Set<String>) -> Double? {
    let edges = links.flatMap { from, targets in
      targets.map { (from: from, to: $0, seconds: $1.latency + Double(bytes) / $1.bytesPerSecond) }
    }
    var best: Double?
    for chosen in 0..<(1 << edges.count) {
      let used = edges.indices.filter { chosen & (1 << $0) != 0 }.map { edges[$0] }
      var reached: Set<String> = [home]
      for _ in devices { for edge in used where reached.contains(edge.from) { reached.insert(edge.to) } }
      let seconds = used.reduce(0) { $0 + $1.seconds }
      if wanted.isSubset(of: reached), seconds < best ?? .infinity { best = seconds }
    }
    return best
  }
}
