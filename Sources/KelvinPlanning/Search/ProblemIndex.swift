/// A problem with names replaced by numbers: devices `0..<devices`, values and nodes in declaration order.
struct ProblemIndex: Sendable {
  var deviceCount = 0
  var host = 0
  var deviceNames: [String] = []
  /// Seconds of an empty copy `from * deviceCount + to`, boundary included; infinite where there is no link.
  var latency: [Double] = []
  var secondsPerByte: [Double] = []
  /// Watts above idle of a copy `from * deviceCount + to`.
  var copyWatts: [Double] = []
  /// Resource of each device.
  var resource: [Int] = []
  var resourceNames: [String] = []
  /// Seconds paid before anything runs, and once for each device that is used.
  var load = 0.0
  var deviceStart: [Double] = []
  /// Inferences after the first.
  var runs = 0
  /// Sustainable power above idle; `nil` where no budget was given.
  var spareWatts: Double?
  /// `Int.max` where unlimited.
  var memory: [Int] = []

  var nodeNames: [String] = []
  /// Distinct inputs and outputs of node `n`: `inputs[inputStart[n]..<inputStart[n + 1]]`.
  var inputs: [Int] = []
  var inputStart: [Int] = [0]
  var outputs: [Int] = []
  var outputStart: [Int] = [0]
  /// `node * deviceCount + device`; infinite where the node may not run (unsupported, excluded, pinned elsewhere).
  var seconds: [Double] = []

  /// `node * deviceCount + device`.
  var startSeconds: [Double] = []
  /// `node * deviceCount + device`; infinite where not given.
  var joules: [Double] = []

  var valueNames: [String] = []
  var bytes: [Int] = []
  /// How often one inference makes each copy of a value.
  var copies: [Double] = []
  /// For each value, which of `signals` it is; -1 for what links move.
  var signalOfValue: [Int] = []
  /// Different ways in which devices are told something: seconds of a copy `from * deviceCount + to`.
  var signals: [[Double]] = []
  /// -1 for graph inputs.
  var producer: [Int] = []
  var isOutput: [Bool] = []
  /// Nodes that read value `v`, in declaration order: `readers[readerStart[v]..<readerStart[v + 1]]`.
  var readers: [Int] = []
  var readerStart: [Int] = [0]

  /// Nodes in the order in which the plan is searched: topological, few values live at once.
  var order: [Int] = []

  var nodeCount: Int { nodeNames.count }
  var valueCount: Int { valueNames.count }

  func inputs(of node: Int) -> ArraySlice<Int> { inputs[inputStart[node]..<inputStart[node + 1]] }
  func outputs(of node: Int) -> ArraySlice<Int> { outputs[outputStart[node]..<outputStart[node + 1]] }
  func readers(of value: Int) -> ArraySlice<Int> { readers[readerStart[value]..<readerStart[value + 1]] }
  func seconds(_ node: Int, on device: Int) -> Double { seconds[node * deviceCount + device] }

  func cargo(_ value: Int) -> TransferPayload {
    TransferPayload(bytes: bytes[value], copies: copies[value], signal: signalOfValue[value])
  }

  /// Seconds that direct copies take in one inference; infinite where there is no link, or no copy.
  func copySeconds(_ cargo: TransferPayload, from: Int, to: Int) -> Double {
    guard cargo.copies.isFinite else { return .infinity }
    let pair = from * deviceCount + to
    guard latency[pair].isFinite else { return .infinity }
    if cargo.signal >= 0 { return cargo.copies * signals[cargo.signal][pair] }
    return cargo.copies * (latency[pair] + Double(cargo.bytes) * secondsPerByte[pair])
  }
}
