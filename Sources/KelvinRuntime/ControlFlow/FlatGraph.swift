package import KelvinGraph

/// A graph with its control flow written out into one address space: what planning places node by node, and what a
/// schedule orders.
///
/// What a loop carries over lives in one place on one device, its home, from before the first trip to the last use of
/// the result: a copy into it before the loop (`#enter`) and one at the end of each trip (`#next`) are nodes like any
/// other, tied to the same device. The results of a branch's two regions are copied to one place by two nodes (`#then`,
/// `#else`) that are tied too. A state is a value carried from one prediction to the next: its home is chosen with its
/// source.
package struct FlatGraph: Sendable {
  /// The nodes that devices run. Inputs, outputs and states are the model's; values keep their names.
  package internal(set) var graph: Graph
  package internal(set) var root = Block()
  /// For each node, where it stands.
  package internal(set) var places: [Place] = []
  /// For each value, how often one inference copies it to another device that needs it.
  package internal(set) var copies: [Double]
  /// Pairs of placed names that share a device.
  package internal(set) var ties = Ties()
  /// Values that begin on a device of the plan's choice without a node that computes them.
  package internal(set) var sources: [Source] = []
  /// Values that the runtime reads on the host: conditions, limits, rows of accumulated outputs.
  package internal(set) var hostReads: [ValueID] = []
  /// Values that the runtime writes on the host: numbers of trips, accumulated outputs.
  package internal(set) var hostWrites: [ValueID] = []
  /// For each value, the one whose memory it has on its home device; itself where it has its own.
  package internal(set) var memory: [ValueID]
  /// Values that the nodes of a region compute for the block around it.
  var handedOut: Set<ValueID> = []
  /// How often the plan expects each loop to make a trip, and where that comes from.
  package internal(set) var expectations: [IterationExpectation] = []
  /// The branches and loops themselves: what the host does for them, and whom they start.
  package internal(set) var controls: [Control] = []
  /// For each node that a branch or loop starts its device for, whose signal it waits for.
  var signals: [Int: String] = [:]

  /// Where a node stands in the control flow.
  package struct Place: Hashable, Sendable {
    /// The node and role of each region around it, outermost first: `loop_1/body`; empty at the top.
    package var region: String
    /// How often one inference is expected to run it.
    package var trips: Double
    /// Whether it writes memory that other nodes of its block read: it runs after all of them.
    package var isLast: Bool
  }

  /// A branch or loop as a node of its own, which the host runs. Each time that one of its regions begins it signals
  /// the devices that hold what the region hands on: these start a segment and are waited for.
  package struct Control: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, Codable {
      case branch, loop

      /// Segments that a device starts for one turn: a loop's body and the copies at its end, or a branch's side.
      package var startsEachTurn: Double { self == .loop ? 2 : 1 }
    }

    package var name: String
    package var kind: Kind
    package var origins: [Origin]
    /// What it reads on the host; constants are left out.
    package var reads: [ValueID]
    /// The regions around it, as of a node.
    package var region: String
    /// Where in the graph's nodes what belongs to it begins.
    package var position: Int
    /// How often one inference is expected to reach it.
    package var times: Double
    /// How often one inference is expected to begin one of its regions.
    package var turns: Double

    /// The value by which it tells a device of a turn.
    package var signal: String { "\(name)#\(kind == .loop ? "trip" : "side")" }
  }

  /// Pairs of placed names that share a device, found by either.
  package struct Ties: Sendable {
    package struct Pair: Hashable, Sendable {
      package let first: String
      package let second: String

      /// The value by which planning hears of it.
      var value: String { "\(first)=\(second)" }
    }

    private(set) package var pairs: [Pair] = []
    private var places: [String: [Int]] = [:]

    package mutating func append(_ first: String, _ second: String) {
      places[first, default: []].append(pairs.count)
      places[second, default: []].append(pairs.count)
      pairs.append(Pair(first: first, second: second))
    }

    /// Those of one name, in their order.
    package subscript(name: String) -> [Pair] { (places[name] ?? []).map { pairs[$0] } }
  }

  package struct Source: Hashable, Sendable {
    package var name: String
    package var value: ValueID
  }

  /// A run of nodes and control flow, in order.
  package struct Block: Sendable {
    package internal(set) var items: [Item] = []
  }

  package enum Item: Sendable {
    case node(Int)
    case branch(BranchItem)
    case loop(LoopItem)
  }

  package struct BranchItem: Sendable {
    package let name: String
    package let condition: ValueID
    package let then: Arm
    package let otherwise: Arm
    let results: [ValueID]
  }

  package struct Arm: Sendable {
    package let block: Block
    /// Why it cannot run.
    package let refusal: String?
  }

  package struct LoopItem: Sendable {
    package let name: String
    package let limit: ValueID
    /// Before the first trip, and after each; nil where the loop is not conditional.
    package let condition: ValueID?
    package let nextCondition: ValueID?
    package let iteration: ValueID
    package let trips: ValueID
    package let rows: [Row]
    package let body: Block
    /// The carried values as the body reads them, and the nodes before the loop that first write them.
    let carried: [(value: ValueID, enter: Int)]
    let results: [ValueID]
  }

  package struct Row: Sendable, Hashable {
    package let row: ValueID
    package let accumulated: ValueID
  }

  /// - Parameter trips: what is known of loops whose trips depend on data.
  package init(_ graph: Graph, trips: IterationEstimate = IterationEstimate()) {
    var writer = FlatGraphWriter(graph, trips)
    writer.write(graph)
    self = writer.flat
  }

  /// Whether there is control flow or state: whether planning sees more than the graph itself.
  package var hasControl: Bool { !hostReads.isEmpty || !hostWrites.isEmpty || !sources.isEmpty }

  /// Every name that a plan gives a device; those of control flow have the host.
  package var placedNames: [String] { graph.nodes.map(\.name) + sources.map(\.name) + controls.map(\.name) }
}

/// How many trips a loop is expected to make where its limit does not say.
package struct IterationEstimate: Hashable, Sendable {
  /// Measured, by the loop's name.
  package var measured: [String: Double]
  /// The share in which a branch takes its first region, measured, by its name.
  package var measuredShares: [String: Double]
  /// Of any other.
  package var standard: Double
  /// The share in which any other branch takes its first region.
  package var thenShare: Double

  package init(
    measured: [String: Double] = [:], measuredShares: [String: Double] = [:], standard: Double = 10,
    thenShare: Double = 0.5
  ) {
    self.measured = measured
    self.measuredShares = measuredShares
    self.standard = standard
    self.thenShare = thenShare
  }
}

/// What a plan takes for granted about one loop.
package struct IterationExpectation: Hashable, Sendable {
  package enum Basis: String, Hashable, Sendable {
    case constant = "a constant of the model"
    case measured
    case assumed = "assumed: --trips says otherwise"
  }

  package var loop: String
  package var trips: Double
  package var basis: Basis
}
