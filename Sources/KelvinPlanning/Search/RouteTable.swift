/// The cheapest copies under given weights from a device to a set of others, with their loads. Routes are computed on
/// first use, once for each payload, device and set.
struct RouteTable {
  private let loads: Loads
  private let weighted: ProblemIndex
  private let devices: Int
  private let sizeClass: [Int]
  private let cargos: [TransferPayload]
  /// Entry `(class * devices + root) << devices | set`: the index of the route, or a `Route`.
  private var number: [Int32]
  private(set) var trees: [[Int]] = []
  /// For each route, the loads, then the seconds.
  private(set) var sums: [Double] = []

  private enum Route {
    static let unknown: Int32 = -1
    static let none: Int32 = -2
  }

  init(_ loads: Loads, under weights: [Double]) {
    self.loads = loads
    weighted = loads.weighted(by: weights)
    devices = loads.index.deviceCount
    (sizeClass, cargos) = loads.index.payloads()
    number = Array(repeating: Route.unknown, count: cargos.count * devices << devices)
  }

  /// The number of values for each route: loads and seconds.
  var stride: Int { loads.count + 1 }

  /// - Returns: the route's index; `nil` when a device cannot be reached.
  @inline(__always)
  mutating func route(_ value: Int, from root: Int, to set: Int) -> Int? {
    let entry = (sizeClass[value] * devices + root) << devices | set
    if number[entry] == Route.unknown { number[entry] = find(cargos[sizeClass[value]], root, set) }
    return number[entry] == Route.none ? nil : Int(number[entry])
  }

  private mutating func find(_ cargo: TransferPayload, _ root: Int, _ set: Int) -> Int32 {
    guard let tree = Evaluation.arborescence(weighted, cargo, root: root, reaching: set) else { return Route.none }
    var sum = Array(repeating: 0.0, count: loads.count)
    var seconds = 0.0
    for (to, from) in tree.enumerated() where from >= 0 {
      loads.addCopy(of: cargo, from: from, to: to, to: &sum)
      seconds += loads.index.copySeconds(cargo, from: from, to: to)
    }
    trees.append(tree)
    sums += sum + [seconds]
    return Int32(trees.count - 1)
  }
}
