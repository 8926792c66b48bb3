/// The routes that bring a value from one device to a set of others, with their loads. Only routes that no other route
/// beats in every load are kept. They are computed once for each size, first device and set.
struct CopyRoutes {
  struct Route {
    /// For each device, the source of its copy; -1 if it receives none.
    var tree: [Int]
    var loads: [Double]
  }

  private let loads: Loads
  private let sizeClass: [Int]
  private var known: [Int: [Route]] = [:]
  /// Whether routes were left out because there were too many.
  private(set) var isIncomplete = false
  private static let mostRoutes = 64

  init(_ loads: Loads) {
    self.loads = loads
    sizeClass = loads.index.payloads().ofValue
  }

  /// - Returns: an empty array when a device cannot be reached.
  mutating func routes(_ value: Int, root: Int, reaching set: Int) -> [Route] {
    let devices = loads.index.deviceCount
    let key = (sizeClass[value] * devices + root) << devices | (set | 1 << root)
    if let found = known[key] { return found }
    let cargo = loads.index.cargo(value)
    let found = efficient(cargo, root, set)
    known[key] = found
    return found
  }

  private mutating func efficient(_ cargo: TransferPayload, _ root: Int, _ set: Int) -> [Route] {
    let index = loads.index
    let devices = index.deviceCount
    let needed = set | 1 << root
    var reached = Array(repeating: [Route](), count: 1 << devices)
    reached[1 << root] = [
      Route(tree: Array(repeating: -1, count: devices), loads: Array(repeating: 0, count: loads.count))
    ]
    var found: [Route] = []
    for held in 0..<(1 << devices) {
      for route in reached[held] {
        if held & needed == needed {
          Self.insert(route, into: &found)
          continue
        }
        for to in 0..<devices where held & (1 << to) == 0 {
          for from in 0..<devices
          where held & (1 << from) != 0 && index.copySeconds(cargo, from: from, to: to).isFinite {
            var longer = route
            longer.tree[to] = from
            loads.addCopy(of: cargo, from: from, to: to, to: &longer.loads)
            Self.insert(longer, into: &reached[held | 1 << to])
          }
        }
      }
      if reached[held].count > Self.mostRoutes || found.count > Self.mostRoutes { isIncomplete = true }
      if isIncomplete { return found }
    }
    return found
  }

  private static func insert(_ route: Route, into routes: inout [Route]) {
    for other in routes where zip(other.loads, route.loads).allSatisfy({ $0 <= $1 }) { return }
    routes.removeAll { zip(route.loads, $0.loads).allSatisfy { $0 <= $1 } }
    routes.append(route)
  }
}
