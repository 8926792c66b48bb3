/// A problem with names replaced by numbers: devices `0..<devices`, values and nodes in declaration order.
struct ProblemIndex: Sendable {
  var deviceCount = 0
  var host = 0
  var deviceNames: [String] = []
  /// The seconds of an empty copy `from * deviceCount + to`, boundary included; infinite without a link.
  var latency: [Double] = []
  var secondsPerByte: [Double] = []
  /// The watts above idle of a copy `from * deviceCount + to`.
  var copyWatts: [Double] = []
  /// The resource of each device.
  var resource: [Int] = []
  var resourceNames: [String] = []
  /// The seconds of loading, and the one-time seconds of each used device.
  var load = 0.0
  var deviceStart: [Double] = []
  /// The number of inferences after the first.
  var runs = 0
  /// The sustainable power above idle; `nil` without a budget.
  var spareWatts: Double?
  /// `Int.max` if unlimited.
  var memory: [Int] = []

  var nodeNames: [String] = []
  /// The distinct inputs and outputs of node `n`: `inputs[inputStart[n]..<inputStart[n + 1]]`.
  var inputs: [Int] = []
  var inputStart: [Int] = [0]
  var outputs: [Int] = []
  var outputStart: [Int] = [0]
  /// `node * deviceCount + device`; infinite where the node may not run (unsupported, excluded, pinned elsewhere).
  var seconds: [Double] = []

  /// `node * deviceCount + device`.
  var startSeconds: [Double] = []
  /// The additional seconds of a node whose own weights are streamed, `node * deviceCount + device`; infinite where they
  /// stay on the device. Empty if all do.
  var streamSeconds: [Double] = []
  /// `node * deviceCount + device`; infinite if not given.
  var joules: [Double] = []

  /// The bytes of each weight, and the number of nodes that read it.
  var weightBytes: [Int] = []
  var weightReaders: [Int] = []
  /// The devices that keep each weight, one bit for each.
  var weightDevices: [Int] = []
  /// The distinct weights of node `n`: `weights[weightStart[n]..<weightStart[n + 1]]`.
  var weights: [Int] = []
  var weightStart: [Int] = [0]

  var valueNames: [String] = []
  var bytes: [Int] = []
  /// The number of times that one inference makes each copy of a value.
  var copies: [Double] = []
  /// For each value, its index in `signals`; -1 for values that links move.
  var signalOfValue: [Int] = []
  /// The distinct costs of signals: seconds of a copy `from * deviceCount + to`.
  var signals: [[Double]] = []
  /// The producing node of each value; -1 for graph inputs.
  var producer: [Int] = []
  var isOutput: [Bool] = []
  /// The nodes that read value `v`, in declaration order: `readers[readerStart[v]..<readerStart[v + 1]]`.
  var readers: [Int] = []
  var readerStart: [Int] = [0]

  /// The nodes in the order of the search: topological, with few live values.
  var order: [Int] = []

  var nodeCount: Int { nodeNames.count }
  var valueCount: Int { valueNames.count }

  func inputs(of node: Int) -> ArraySlice<Int> { inputs[inputStart[node]..<inputStart[node + 1]] }
  func outputs(of node: Int) -> ArraySlice<Int> { outputs[outputStart[node]..<outputStart[node + 1]] }
  func weights(of node: Int) -> ArraySlice<Int> { weights[weightStart[node]..<weightStart[node + 1]] }
  func keeps(_ weight: Int, on device: Int) -> Bool { weightDevices[weight] & 1 << device != 0 }
  /// Returns the bytes of the weights that a device keeps for a node.
  func weightBytes(of node: Int, on device: Int) -> Int {
    weights(of: node).reduce(0) { keeps($1, on: device) ? min($0 + weightBytes[$1], .max / 2) : $0 }
  }
  /// Returns the bytes of these weights that no other node reads.
  func ownBytes(of node: Int, on device: Int) -> Int {
    weights(of: node).reduce(0) { sum, weight in
      keeps(weight, on: device) && weightReaders[weight] == 1 ? min(sum + weightBytes[weight], .max / 2) : sum
    }
  }
  func readers(of value: Int) -> ArraySlice<Int> { readers[readerStart[value]..<readerStart[value + 1]] }
  func seconds(_ node: Int, on device: Int) -> Double { seconds[node * deviceCount + device] }

  func cargo(_ value: Int) -> TransferPayload {
    TransferPayload(bytes: bytes[value], copies: copies[value], signal: signalOfValue[value])
  }

  /// Returns the seconds of direct copies in one inference; infinite without a link, or for values that are never
  /// copied.
  func copySeconds(_ cargo: TransferPayload, from: Int, to: Int) -> Double {
    guard cargo.copies.isFinite else { return .infinity }
    let pair = from * deviceCount + to
    guard latency[pair].isFinite else { return .infinity }
    if cargo.signal >= 0 { return cargo.copies * signals[cargo.signal][pair] }
    return cargo.copies * (latency[pair] + Double(cargo.bytes) * secondsPerByte[pair])
  }

  /// Returns the distinct payloads of the values, and for each value the index of its payload.
  ///
  /// - Parameter round: Maps the bytes of a value, so that similar sizes share a payload.
  func payloads(_ round: (Int) -> Int = { $0 }) -> (ofValue: [Int], distinct: [TransferPayload]) {
    var known: [TransferPayload: Int] = [:]
    var distinct: [TransferPayload] = []
    let ofValue = bytes.indices.map { value in
      var payload = cargo(value)
      payload.bytes = round(payload.bytes)
      if let known = known[payload] { return known }
      known[payload] = distinct.count
      distinct.append(payload)
      return distinct.count - 1
    }
    return (ofValue, distinct)
  }
}
