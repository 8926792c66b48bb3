import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// Random placements that alternate between devices, from whose times hand-over costs are fitted.
///
/// Each placement follows the graph's order and changes the device at random positions, a few times or often. So runs
/// of all lengths occur, and values of all sizes are transferred. The same graph and devices give the same placements.
struct MixedDesign {
  /// The mean number of device changes of successive placements.
  private static let changes = [1.0, 2, 4, 8, 3, 16]

  private let context: ModelContext
  private let request: PlanRequest
  private let nodes: [String]
  /// By device, the nodes that it supports.
  private let runnable: [(id: String, nodes: Set<String>)]
  private var generator = SeededGenerator(seed: 1)
  private var drawn = 0
  private var seen: Set<[String: String]> = []

  init(_ context: ModelContext, _ request: PlanRequest, runnable: [(id: String, nodes: Set<String>)]) {
    self.context = context
    self.request = request
    self.runnable = runnable
    nodes = FlatGraph(context.graph).graph.nodes.map(\.name)
    seen = []
  }

  /// Returns the number of placements that determine all costs: for each device two costs in each direction to the host
  /// and one per node, with as many placements again to test the fit.
  static func count(devices: Int) -> Int { 6 * devices }

  /// Returns the next placement with its transfers; nil when no new one is found.
  mutating func next() -> PlanSolution? {
    for _ in 0..<20 {
      let changes = Self.changes[drawn % Self.changes.count]
      drawn += 1
      var pinned = request
      pinned.goal = .latency
      pinned.units = .devices(runnable.map(\.id))
      pinned.isStrict = false
      pinned.exclusions = []
      pinned.pins = draw(changes: changes)
      guard let solution = try? context.planner.problem(context.graph, pinned).solve(),
        context.nodesByDevice(solution.placement).count > 1, seen.insert(solution.placement).inserted
      else { continue }
      return solution
    }
    return nil
  }

  private mutating func draw(changes: Double) -> [String: String] {
    var device = generator.index(below: runnable.count)
    var pins: [String: String] = [:]
    for node in nodes {
      if generator.unit() * Double(nodes.count) < changes {
        device = (device + 1 + generator.index(below: runnable.count - 1)) % runnable.count
      }
      if runnable[device].nodes.contains(node) { pins[node] = runnable[device].id }
    }
    return pins
  }
}
