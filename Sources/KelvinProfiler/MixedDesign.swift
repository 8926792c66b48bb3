import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// Placements that alternate between devices as plans do: what hand-over costs is told from how long they take.
///
/// Each follows the graph's order and changes device at drawn places, a few times or often, so that runs of all lengths
/// and values of all sizes cross. The same graph and devices give the same placements.
struct MixedDesign {
  /// Changes of device that a placement has on average, in turn.
  private static let changes = [1.0, 2, 4, 8, 3, 16]

  private let context: ModelContext
  private let request: PlanRequest
  private let nodes: [String]
  /// By device, the nodes that it runs.
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

  /// How many placements tell all that is asked: for each pair with the host two costs there and two back, for each
  /// device one more, and as many again to see how far off they are.
  static func count(devices: Int) -> Int { 6 * devices }

  /// The next placement with its copies; nil where drawing finds no other.
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
