import FoundationEssentials
import KelvinBasics
import KelvinPlanning

/// A random `--problem` document. Every cost is a multiple of 1/1024 so that sums are exact.
struct RandomProblem {
  var random: SeededGenerator
  let devices: [String]
  var pins: [String: String] = [:]
  var excludes: [String] = []

  init(seed: UInt64, devices: Int) {
    random = SeededGenerator(seed: seed)
    self.devices = ["cpu", "vulkan:0", "opencl:0", "npu"].prefix(devices).map { $0 }
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  private mutating func ticks(_ most: Int) -> String {
    let count = Int.random(in: 0...most, using: &random)
    return "\(Double(count) / 1024)"
  }

  /// How often a value is copied, now and then: as in loops, in branches not taken, or never. Some values are signals.
  private mutating func copies() -> String {
    var text = ""
    if chance(15) {
      let count: String = ["0", "0.5", "3", "10", "\"never\""].randomElement(using: &random) ?? "1"
      text += ",\"copies\":\(count)"
    }
    if chance(10) {
      let told = devices.filter { _ in chance(80) }
      if !told.isEmpty {
        text += ",\"signalSeconds\":{" + told.map { "\"\($0)\":\(ticks(40))" }.joined(separator: ",") + "}"
      }
    }
    return text
  }

  /// - Parameter goal: adds what that goal needs: shared resources, start costs, energies and a power budget.
  mutating func json(nodes count: Int, goal: Goal = .latency) -> String {
    let host = devices.randomElement(using: &random) ?? "cpu"
    let dear = [4, 40, 400].randomElement(using: &random) ?? 40
    let missing = chance(30) ? 25 : 0
    var transfers: [String] = []
    for from in devices {
      for to in devices where from != to && !chance(missing) {
        let watts = goal == .sustained && chance(50) ? ",\"watts\":\(Int.random(in: 0...8, using: &random))" : ""
        let rate = chance(50) ? ",\"bytesPerSecond\":\([64, 512, 4096].randomElement(using: &random) ?? 64)" : ""
        transfers.append("{\"from\":\"\(from)\",\"to\":\"\(to)\",\"latency\":\(ticks(dear))\(rate)\(watts)}")
      }
    }
    var values: [String] = []
    var inputs: [String] = []
    for i in 0..<Int.random(in: 0...2, using: &random) {
      values.append("in\(i)")
      inputs.append("{\"value\":\"in\(i)\",\"bytes\":\(Int.random(in: 0...64, using: &random))\(copies())}")
    }
    var nodes: [String] = []
    for i in 0..<count {
      var reads: [String] = []
      for _ in 0..<(chance(20) ? 3 : chance(50) ? 2 : 1) where !values.isEmpty && !chance(5) {
        let recent = chance(60) ? values.suffix(2) : values[...]
        if let value = recent.randomElement(using: &random) { reads.append("\"\(value)\"") }
      }
      var writes: [String] = []
      for k in 0..<(chance(15) ? 2 : 1) {
        values.append("v\(i).\(k)")
        writes.append("{\"value\":\"v\(i).\(k)\",\"bytes\":\(Int.random(in: 0...64, using: &random))\(copies())}")
      }
      var seconds: [String] = []
      var able: [String] = []
      for device in devices where !chance(15) {
        seconds.append("\"\(device)\":\(ticks(100))")
        able.append(device)
      }
      if able.isEmpty {
        seconds.append("\"\(host)\":0.5")
        able.append(host)
      }
      var extra = ""
      if goal == .sustained {
        extra += ",\"joules\":{" + able.map { "\"\($0)\":\(ticks(200))" }.joined(separator: ",") + "}"
      }
      if goal == .oneShot {
        extra +=
          ",\"startSeconds\":{"
          + able.filter { _ in chance(60) }.map { "\"\($0)\":\(ticks(400))" }
          .joined(separator: ",") + "}"
      }
      if chance(5) { pins["n\(i)"] = able.randomElement(using: &random) }
      nodes.append(
        "{\"id\":\"n\(i)\",\"inputs\":[\(reads.joined(separator: ","))],\"outputs\":[\(writes.joined(separator: ","))],"
          + "\"seconds\":{\(seconds.joined(separator: ","))}\(extra)}")
    }
    if chance(60) { nodes.shuffle(using: &random) }
    var outputs: [String] = []
    for value in values where chance(value.hasPrefix("in") ? 10 : 20) { outputs.append("\"\(value)\"") }
    if let last = values.last, !outputs.contains("\"\(last)\"") { outputs.append("\"\(last)\"") }
    if chance(8), let device = devices.randomElement(using: &random) { excludes = [device] }
    var optional = ""
    if !pins.isEmpty { optional += ",\"pins\":{" + pins.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}" }
    if !excludes.isEmpty { optional += ",\"exclude\":[" + excludes.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
    if chance(20) {
      optional += ",\"boundarySeconds\":{" + devices.map { "\"\($0)\":\(ticks(20))" }.joined(separator: ",") + "}"
    }
    if goal != .latency { optional += ",\"goal\":\"\(goal.rawValue)\"" }
    if goal == .throughput || goal == .sustained, chance(30) {
      optional += ",\"resource\":{\"\(devices[0])\":\"chip\",\"\(devices[devices.count - 1])\":\"chip\"}"
    }
    if goal == .sustained {
      let watts: Double = [1.5, 2, 3, 9].randomElement(using: &random) ?? 2
      optional += ",\"power\":{\"idleWatts\":1,\"sustainableWatts\":\(watts)}"
    }
    if goal == .oneShot {
      let runs: Int = [0, 1, 4, 30].randomElement(using: &random) ?? 0
      let starts = devices.filter { _ in chance(75) }.map { "\"\($0)\":\(ticks(1000))" }
      optional +=
        ",\"start\":{\"load\":\(ticks(100)),\"runs\":\(runs),"
        + "\"devices\":{\(starts.joined(separator: ","))}}"
    }
    return "{\"devices\":[" + devices.map { "\"\($0)\"" }.joined(separator: ",")
      + "],\"host\":\"\(host)\",\"transfers\":["
      + transfers.joined(separator: ",") + "],\"inputs\":[" + inputs.joined(separator: ",") + "],\"outputs\":["
      + outputs.joined(separator: ",") + "],\"nodes\":[" + nodes.joined(separator: ",") + "]" + optional + "}"
  }
}

extension PlanningProblem {
  init(text: String) throws(PlanningError) { try self.init(json: Data(text.utf8)) }
}

extension [PlanningProblem.Transfer] {
  /// Between every two of the devices, with 5 to 20 GB/s.
  static func random(
    between names: [String], latency: ClosedRange<Double>, _ random: inout SeededGenerator
  ) -> [PlanningProblem.Transfer] {
    names.flatMap { from in
      names.filter { $0 != from }.map { to in
        .init(
          from: from, to: to, latency: Double.random(in: latency, using: &random),
          bytesPerSecond: Double.random(in: 5e9...2e10, using: &random))
      }
    }
  }
}
