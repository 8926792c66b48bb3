import KelvinDevices
package import KelvinGraph
import Synchronization

/// The compiled plans of one graph between which inferences alternate by their shares; most often a single plan.
///
/// Each inference takes one turn, on any thread. The turns of all callers together keep the shares.
package final class CompiledMixture: Sendable {
  /// The compiled plans, at least one.
  package let models: [CompiledModel]
  /// The share of the inferences of each plan.
  package let shares: [Double]
  private let turns: Mutex<ShareTurns>

  /// - Parameter plans: at least one, of one graph, with shares that sum to 1.
  package init(_ plans: [(model: CompiledModel, share: Double)]) {
    precondition(!plans.isEmpty, "a mixture has a plan")
    models = plans.map(\.model)
    shares = plans.map(\.share)
    turns = Mutex(ShareTurns(plans.map(\.share)))
  }

  package convenience init(_ model: CompiledModel) { self.init([(model, 1)]) }

  /// Takes a turn.
  ///
  /// - Returns: the index of the plan of this inference.
  package func nextPlan() -> Int { models.count == 1 ? 0 : turns.withLock { $0.next() } }

  /// Takes a turn.
  ///
  /// - Returns: the plan of this inference.
  package func next() -> CompiledModel { models[nextPlan()] }

  /// The graph that all plans compute.
  package var graph: Graph { models[0].graph }
  /// Whether a device of any plan has failed, so that the plan must be compiled again.
  package var isOut: Bool { models.contains(where: \.isOut) }
  /// The devices that run a node in any plan.
  package var usedDevices: Set<String> { models.reduce(into: []) { $0.formUnion($1.usedDevices) } }
}

/// Gives inferences to plans so that each keeps its share: of the plans that are behind, the next one goes to the plan
/// that would first be too far behind.
///
/// After any number `n` of inferences, a plan with share `s` has received less than one inference more or fewer than `n
/// s`: with `k > 1` plans, at most 1 − 1/(2 k − 2). The rule is that of R. Tijdeman, "The chairman assignment problem"
/// (1980). To choose the plan furthest behind would exceed one inference with four plans.
package struct ShareTurns: Sendable {
  private let shares: [Double]
  /// The inferences that each plan is behind.
  private var deficits: [Double]
  /// The deficit from which a plan may take a turn; 1 minus this is the largest deficit.
  private let least: Double
  /// The largest sum of rounding errors.
  private static let slack = 1e-6

  /// - Parameter shares: at least one, above 0; they sum to 1.
  package init(_ shares: [Double]) {
    self.shares = shares
    deficits = shares.map { _ in 0 }
    least = shares.count > 1 ? 1 / Double(2 * shares.count - 2) : 0
  }

  /// - Returns: the index of the plan of the next inference.
  package mutating func next() -> Int {
    for plan in shares.indices { deficits[plan] += shares[plan] }
    /// The inferences until the plan is too far behind.
    func left(_ plan: Int) -> Double { (1 - least - deficits[plan]) / shares[plan] }
    let behind = shares.indices.filter { deficits[$0] >= least - Self.slack }
    let next = (behind.isEmpty ? Array(shares.indices) : behind).min { left($0) < left($1) } ?? 0
    deficits[next] -= 1
    return next
  }
}
