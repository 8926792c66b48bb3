/// A problem with names replaced by numbers: devices `0..<devices`, values and nodes in declaration order.
struct ProblemIndex: Sendable {
  var deviceCount = 0
  var host = 0
  var deviceNames: [String] = []
  /// Seconds of an empty copy `from * deviceCount + to`, boundary included; infinite where there is no link.
  var latency: [Double] = []
  var secondsPerByte: [Double] = []
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

  var valueNames: [String] = []
  var bytes: [Int] = []
  /// -1 for graph inputs.
  var producer: [Int] = []
  var isOutput: [Bool] = []

  /// Nodes in the order in which the plan is searched: topological, few values live at once.
  var order: [Int] = []

  var nodeCount: Int { nodeNames.count }
  var valueCount: Int { valueNames.count }

  func inputs(of node: Int) -> ArraySlice<Int> { inputs[inputStart[node]..<inputStart[node + 1]] }
  func outputs(of node: Int) -> ArraySlice<Int> { outputs[outputStart[node]..<outputStart[node + 1]] }
  func seconds(_ node: Int, on device: Int) -> Double { seconds[node * deviceCount + device] }

  /// Seconds of one direct copy; infinite where there is no link.
  func copySeconds(_ bytes: Int, from: Int, to: Int) -> Double {
    let pair = from * deviceCount + to
    return latency[pair] + Double(bytes) * secondsPerByte[pair]
  }
}
