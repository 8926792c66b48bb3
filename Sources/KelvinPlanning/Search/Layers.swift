/// Every state that a search kept, by layer: layer 0 is the start, layer `k` follows the `k`-th processed node. The
/// states of a layer are in order of cost.
struct Layers {
  let words: Int
  private(set) var start: [Int] = [0]
  private(set) var keys: [UInt64] = []
  private(set) var costs: [Double] = []
  private(set) var parents: [Int32] = []
  private(set) var devices: [UInt8] = []
  private let keepsKeys: Bool

  /// The layer appended last, always with its keys and costs.
  private(set) var frontKeys: [UInt64]
  private(set) var frontCosts: [Double] = [0]
  /// Whether states were discarded for width, not by dominance.
  var isTruncated = false

  init(words: Int, keepsKeys: Bool) {
    self.words = words
    self.keepsKeys = keepsKeys
    frontKeys = Array(repeating: 0, count: words)
    parents = [-1]
    devices = [0]
    if keepsKeys {
      keys = frontKeys
      costs = frontCosts
    }
    start.append(1)
  }

  mutating func append(_ states: [Int], of table: StateTable) {
    frontKeys.removeAll(keepingCapacity: true)
    frontCosts.removeAll(keepingCapacity: true)
    for state in states {
      for word in 0..<words { frontKeys.append(table.keys[state * words + word]) }
      frontCosts.append(table.costs[state])
      parents.append(table.parents[state])
      devices.append(table.devices[state])
    }
    if keepsKeys {
      keys.append(contentsOf: frontKeys)
      costs.append(contentsOf: frontCosts)
    }
    start.append(parents.count)
  }

  func range(_ layer: Int) -> Range<Int> { start[layer]..<start[layer + 1] }

  /// Follows the parents of a state of `layer` back to the start and visits the devices chosen at layers `layer, layer
  /// - 1, … 1`.
  func trace(_ layer: Int, _ state: Int, _ visit: (_ layer: Int, _ device: Int) -> Void) {
    var state = state
    for step in stride(from: layer, to: 0, by: -1) {
      visit(step, Int(devices[start[step] + state]))
      state = Int(parents[start[step] + state])
    }
  }
}
