import KelvinBasics

/// Checks a problem's names and numbers and assigns indices to them.
struct ProblemReader {
  private let problem: PlanningProblem
  private var index = ProblemIndex()
  private var deviceNumber: [String: Int] = [:]
  private var valueNumber: [String: Int] = [:]
  private var excluded: Set<Int> = []

  /// Limits that keep every sum of costs finite.
  private static let secondsLimit = 1e12
  private static let joulesLimit = 1e12
  private static let wattsLimit = 1e9
  private static let bytesLimit = 1 << 53
  private static let copiesLimit = 1e9
  private static let slowestBytesPerSecond = 1e-3

  init(_ problem: PlanningProblem) { self.problem = problem }

  private var devices: [String] { problem.devices }
  private var nodes: [PlanningProblem.Node] { problem.nodes }

  mutating func read() throws(PlanningError) -> ProblemIndex {
    try readDevices()
    readResources()
    try readStart()
    try readPower()
    try readLinks()
    try readValues()
    try readNodes()
    try applyPins()
    applyMemory()
    try requireDevices()
    countReaders()
    index.order = try TopologicalOrder(index).narrowest()
    return index
  }

  private mutating func readDevices() throws(PlanningError) {
    guard devices.count <= PlanningProblem.maximumDevices else {
      throw PlanningError(
        .limit, "devices", "\(devices.count) devices, at most \(PlanningProblem.maximumDevices) can be planned for")
    }
    for (number, name) in devices.enumerated() {
      guard deviceNumber.updateValue(number, forKey: name) == nil else {
        throw PlanningError(.duplicate, "devices", "'\(name)' is listed twice")
      }
    }
    index.deviceNames = devices
    index.deviceCount = devices.count
    index.host = try device(problem.host, in: "host")
    for name in problem.exclude { excluded.insert(try device(name, in: "exclude")) }
    for name in problem.resource.keys.sorted() { _ = try device(name, in: "resource") }
    index.memory = Array(repeating: .max, count: devices.count)
    for (name, bytes) in problem.memory.sorted(by: { $0.key < $1.key }) {
      let number = try device(name, in: "memory")
      guard bytes >= 0 else {
        throw PlanningError(.invalidNumber, "memory '\(name)'", "\(bytes) bytes, expected 0 or more")
      }
      index.memory[number] = bytes
    }
  }

  private mutating func readResources() {
    var numbers: [String: Int] = [:]
    for name in devices {
      let resource = problem.resource[name] ?? name
      let number = numbers[resource] ?? numbers.count
      if numbers.updateValue(number, forKey: resource) == nil { index.resourceNames.append(resource) }
      index.resource.append(number)
    }
  }

  private mutating func readStart() throws(PlanningError) {
    index.deviceStart = Array(repeating: 0, count: devices.count)
    guard let start = problem.start else { return }
    try checkSeconds(start.load, "start.load")
    guard start.runs >= 0, start.runs <= PlanningProblem.mostRuns else {
      throw PlanningError(
        .invalidNumber, "start.runs", "\(start.runs), expected 0 to \(PlanningProblem.mostRuns)")
    }
    index.load = start.load
    index.runs = start.runs
    for (name, seconds) in start.devices.sorted(by: { $0.key < $1.key }) {
      let number = try device(name, in: "start.devices")
      try checkSeconds(seconds, "start.devices '\(name)'")
      index.deviceStart[number] = seconds
    }
  }

  private mutating func readPower() throws(PlanningError) {
    guard let power = problem.power else { return }
    guard power.idleWatts >= 0, power.idleWatts <= Self.wattsLimit else {
      throw PlanningError(
        .invalidNumber, "power.idleWatts", "\(power.idleWatts) W, expected 0 to \(Self.wattsLimit)")
    }
    guard power.sustainableWatts > power.idleWatts, power.sustainableWatts <= Self.wattsLimit else {
      throw PlanningError(
        .invalidNumber, "power.sustainableWatts",
        "\(power.sustainableWatts) W, expected more than idleWatts (\(power.idleWatts)), at most \(Self.wattsLimit)")
    }
    index.spareWatts = power.sustainableWatts - power.idleWatts
  }

  private func device(_ name: String, in place: String) throws(PlanningError) -> Int {
    guard let number = deviceNumber[name] else {
      throw PlanningError(
        .unknown, place, "no device is called '\(name)'", remedy: "the devices are " + devices.joined(separator: ", "))
    }
    return number
  }

  private func checkSeconds(_ seconds: Double, _ subject: @autoclosure () -> String) throws(PlanningError) {
    guard seconds >= 0, seconds <= Self.secondsLimit else {
      throw PlanningError(
        .invalidNumber, subject(), "\(seconds) s, expected a number between 0 and \(Self.secondsLimit)")
    }
  }

  private mutating func readLinks() throws(PlanningError) {
    let count = devices.count
    index.latency = Array(repeating: .infinity, count: count * count)
    index.secondsPerByte = Array(repeating: 0, count: count * count)
    index.copyWatts = Array(repeating: 0, count: count * count)
    var seen: Set<Int> = []
    for (number, link) in problem.transfers.enumerated() {
      let place = "transfers[\(number)]"
      let from = try device(link.from, in: place)
      let to = try device(link.to, in: place)
      try checkSeconds(link.latency, "\(place).latency")
      if let rate = link.bytesPerSecond, !(rate >= Self.slowestBytesPerSecond && rate.isFinite) {
        throw PlanningError(
          .invalidNumber, "\(place).bytesPerSecond", "\(rate), expected \(Self.slowestBytesPerSecond) or more")
      }
      if let watts = link.watts, !(watts >= 0 && watts <= Self.wattsLimit) {
        throw PlanningError(
          .invalidNumber, "\(place).watts", "\(watts) W, expected 0 to \(Self.wattsLimit)")
      }
      guard seen.insert(from * count + to).inserted else {
        throw PlanningError(.duplicate, place, "'\(link.from)' to '\(link.to)' is given twice")
      }
      let hidden = [from, to].contains { excluded.contains($0) && $0 != index.host }
      if from == to || hidden { continue }
      index.latency[from * count + to] = link.latency
      index.secondsPerByte[from * count + to] = link.bytesPerSecond.map { 1 / $0 } ?? 0
      index.copyWatts[from * count + to] = link.watts ?? 0
    }
    for (name, seconds) in problem.boundarySeconds.sorted(by: { $0.key < $1.key }) {
      let to = try device(name, in: "boundarySeconds")
      try checkSeconds(seconds, "boundarySeconds '\(name)'")
      for from in 0..<count { index.latency[from * count + to] += seconds }
    }
  }

  private mutating func add(
    _ value: PlanningProblem.Value, producer: Int, by owner: @autoclosure () -> String
  ) throws(PlanningError) -> Int {
    guard value.bytes >= 0, value.bytes <= Self.bytesLimit else {
      throw PlanningError(
        .invalidNumber, owner(), "value '\(value.value)' has \(value.bytes) bytes, expected 0 to \(Self.bytesLimit)")
    }
    guard value.copies >= 0, value.copies <= Self.copiesLimit || value.copies == .infinity else {
      throw PlanningError(
        .invalidNumber, owner(),
        "value '\(value.value)' is copied \(value.copies) times, expected 0 to \(Self.copiesLimit)",
        remedy: "say \"never\" of a value that is not copied")
    }
    let number = index.valueCount
    if let earlier = valueNumber.updateValue(number, forKey: value.value) {
      let first = index.producer[earlier]
      throw PlanningError(
        .duplicate, owner(),
        "value '\(value.value)' is already "
          + (first < 0 ? "a graph input" : "produced by node '\(nodes[first].id)'"))
    }
    index.valueNames.append(value.value)
    index.bytes.append(value.bytes)
    index.copies.append(value.copies)
    index.signalOfValue.append(try signal(value, of: owner()))
    index.producer.append(producer)
    index.isOutput.append(false)
    return number
  }

  /// Returns the index of the value's signal; -1 if it is not a signal.
  private mutating func signal(
    _ value: PlanningProblem.Value, of owner: @autoclosure () -> String
  ) throws(PlanningError) -> Int {
    guard !value.signalSeconds.isEmpty else { return -1 }
    var seconds = Array(repeating: 0.0, count: devices.count * devices.count)
    for (name, cost) in value.signalSeconds.sorted(by: { $0.key < $1.key }) {
      let to = try device(name, in: "\(owner()) signal '\(value.value)'")
      try checkSeconds(cost, "\(owner()) signal '\(value.value)' to '\(name)'")
      for from in devices.indices { seconds[from * devices.count + to] = cost }
    }
    if let known = index.signals.firstIndex(of: seconds) { return known }
    index.signals.append(seconds)
    return index.signals.count - 1
  }

  private mutating func readValues() throws(PlanningError) {
    for value in problem.inputs { _ = try add(value, producer: -1, by: "inputs") }
    var names: Set<String> = []
    for (number, node) in nodes.enumerated() {
      guard names.insert(node.id).inserted else {
        throw PlanningError(.duplicate, "nodes[\(number)]", "a node '\(node.id)' is listed before")
      }
      for value in node.outputs {
        index.outputs.append(try add(value, producer: number, by: "node '\(node.id)'"))
      }
      index.outputStart.append(index.outputs.count)
    }
    index.nodeNames = nodes.map(\.id)
    for name in problem.outputs {
      guard let value = valueNumber[name] else {
        throw PlanningError(.unknown, "outputs", "value '\(name)' is neither a graph input nor produced by a node")
      }
      index.isOutput[value] = true
    }
  }

  private mutating func readNodes() throws(PlanningError) {
    let count = devices.count
    index.seconds = Array(repeating: .infinity, count: nodes.count * count)
    index.startSeconds = Array(repeating: 0, count: nodes.count * count)
    index.joules = Array(repeating: .infinity, count: nodes.count * count)
    var lastReader = Array(repeating: -1, count: index.valueCount)
    var weightNumber: [String: Int] = [:]
    for (number, node) in nodes.enumerated() {
      for name in node.inputs {
        guard let value = valueNumber[name] else {
          throw PlanningError(
            .unknown, "node '\(node.id)'",
            "reads value '\(name)', which is neither a graph input nor produced by a node",
            node: node.id)
        }
        if lastReader[value] == number { continue }
        lastReader[value] = number
        index.inputs.append(value)
      }
      index.inputStart.append(index.inputs.count)
      try read(node.weights, of: node.id, &weightNumber)
      for (name, seconds) in node.seconds {
        let device = try device(name, in: "node '\(node.id)'")
        try checkSeconds(seconds, "node '\(node.id)' on '\(name)'")
        if !excluded.contains(device) { index.seconds[number * count + device] = seconds }
      }
      for (name, joules) in node.joules {
        let device = try device(name, in: "node '\(node.id)' joules")
        guard joules >= 0, joules <= Self.joulesLimit else {
          throw PlanningError(
            .invalidNumber, "node '\(node.id)' joules on '\(name)'",
            "\(joules) J, expected 0 to \(Self.joulesLimit)", node: node.id)
        }
        index.joules[number * count + device] = joules
      }
      for (name, seconds) in node.startSeconds {
        let device = try device(name, in: "node '\(node.id)' startSeconds")
        try checkSeconds(seconds, "node '\(node.id)' startSeconds on '\(name)'")
        index.startSeconds[number * count + device] = seconds
      }
      try readStreams(of: number)
    }
  }

  private mutating func readStreams(of number: Int) throws(PlanningError) {
    let node = nodes[number]
    for (name, seconds) in node.streamSeconds {
      let device = try device(name, in: "node '\(node.id)' streamSeconds")
      try checkSeconds(seconds, "node '\(node.id)' streamSeconds on '\(name)'")
      guard problem.goal == .latency || problem.goal == .oneShot else { continue }
      if index.streamSeconds.isEmpty { index.streamSeconds = index.seconds.map { _ in .infinity } }
      index.streamSeconds[number * devices.count + device] = seconds
    }
  }

  private mutating func read(
    _ weights: [PlanningProblem.Weight], of node: String, _ known: inout [String: Int]
  ) throws(PlanningError) {
    let first = index.weights.count
    for weight in weights {
      guard weight.bytes >= 0, weight.bytes <= Self.bytesLimit else {
        throw PlanningError(
          .invalidNumber, "node '\(node)'",
          "weight '\(weight.weight)' has \(weight.bytes) bytes, expected 0 to \(Self.bytesLimit)", node: node)
      }
      let place = "weight '\(weight.weight)' of node '\(node)'"
      var keeping = weight.devices == nil ? -1 : 0
      for name in weight.devices ?? [] { keeping |= try 1 << device(name, in: place) }
      let number = known[weight.weight] ?? index.weightBytes.count
      if known.updateValue(number, forKey: weight.weight) == nil {
        index.weightBytes.append(weight.bytes)
        index.weightDevices.append(keeping)
        index.weightReaders.append(0)
      }
      guard index.weightDevices[number] == keeping else {
        throw PlanningError(
          .duplicate, "node '\(node)'", "weight '\(weight.weight)' names other devices than in an earlier node",
          node: node)
      }
      guard index.weightBytes[number] == weight.bytes else {
        throw PlanningError(
          .invalidNumber, "node '\(node)'",
          "weight '\(weight.weight)' has \(weight.bytes) bytes, but \(index.weightBytes[number]) bytes in an earlier node",
          node: node)
      }
      if index.weights[first...].contains(number) { continue }
      index.weights.append(number)
      index.weightReaders[number] += 1
    }
    index.weightStart.append(index.weights.count)
  }

  private mutating func countReaders() {
    var start = Array(repeating: 0, count: index.valueCount + 1)
    for value in index.inputs { start[value + 1] += 1 }
    for value in 0..<index.valueCount { start[value + 1] += start[value] }
    index.readerStart = start
    index.readers = Array(repeating: 0, count: index.inputs.count)
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) {
        index.readers[start[value]] = node
        start[value] += 1
      }
    }
  }

  private mutating func applyPins() throws(PlanningError) {
    guard !problem.pins.isEmpty else { return }
    let count = devices.count
    var number: [String: Int] = [:]
    for (i, name) in index.nodeNames.enumerated() { number[name] = i }
    for (name, target) in problem.pins.sorted(by: { $0.key < $1.key }) {
      guard let node = number[name] else {
        throw PlanningError(.unknown, "pins", "no node is called '\(name)'")
      }
      let device = try device(target, in: "pins '\(name)'")
      guard index.seconds(node, on: device).isFinite else {
        let why = nodes[node].unsupported[target].map { ": \($0)" } ?? ""
        throw .infeasible(
          node: name,
          excluded.contains(device)
            ? "pinned to '\(target)', which is excluded" : "pinned to '\(target)', which cannot run it\(why)",
          remedy: "pin it elsewhere or not at all")
      }
      for other in 0..<count where other != device { index.seconds[node * count + other] = .infinity }
    }
  }

  /// Forbids devices whose memory is less than the node's own values and weights.
  private mutating func applyMemory() {
    guard !problem.memory.isEmpty else { return }
    for node in 0..<index.nodeCount {
      for device in 0..<devices.count where residentBytes(node, on: device) > index.memory[device] {
        index.seconds[node * devices.count + device] = .infinity
      }
    }
  }

  private func residentBytes(_ node: Int, on device: Int) -> Int {
    var sum = index.weightBytes(of: node, on: device)
    for value in index.inputs(of: node) { sum = min(sum + index.bytes[value], .max / 2) }
    for value in index.outputs(of: node) { sum = min(sum + index.bytes[value], .max / 2) }
    return sum
  }

  private func requireDevices() throws(PlanningError) {
    for node in 0..<index.nodeCount
    where !(0..<devices.count).contains(where: { index.seconds(node, on: $0).isFinite }) {
      throw .infeasible(node: nodes[node].id, "no device can run it" + obstacles(node), remedy: nil)
    }
  }

  private func obstacles(_ node: Int) -> String {
    let reasons = devices.indices.map { device in
      let name = devices[device]
      if let why = nodes[node].unsupported[name] { return "unsupported on \(name): \(why)" }
      if nodes[node].seconds[name] == nil { return "unsupported on \(name)" }
      if excluded.contains(device) { return "\(name) is excluded" }
      let (all, weights) = (residentBytes(node, on: device), index.weightBytes(of: node, on: device))
      return "its weights take \(HumanReadable.bytes(weights)) and its values \(HumanReadable.bytes(all - weights)), "
        + "\(name) has room for \(HumanReadable.bytes(index.memory[device]))"
    }
    return " (" + reasons.joined(separator: "; ") + ")"
  }
}
