package import KelvinGraph

/// A graph whose nested regions are flattened into one list of nodes and values. Planning places these nodes, and a
/// schedule orders them.
///
/// A loop-carried value has one memory location on one device, its home, from before the first iteration to the last
/// use of the result. Copies into that location before the loop (`#enter`) and at the end of each iteration (`#next`)
/// are nodes tied to the same device. The results of a branch's two regions are copied to one location by two tied
/// nodes (`#then`, `#else`). A state is a value carried from one prediction to the next; the placement of its source
/// determines its home. Its next value is copied over it at the end, unless the node that computes it writes it there
/// (`UpdatingOperator`).
package struct FlatGraph: Sendable {
  /// The nodes that devices run. Inputs, outputs and states are the model's; values keep their names.
  package internal(set) var graph: Graph
  package internal(set) var root = Block()
  /// For each node, its position in the control flow.
  package internal(set) var places: [Place] = []
  /// For each value, how often one inference copies it to another device that needs it.
  package internal(set) var copies: [Double]
  /// Pairs of placed names that must share a device.
  package internal(set) var ties = Ties()
  /// Values without a producing node, whose device the plan chooses.
  package internal(set) var sources: [Source] = []
  /// Values that the runtime reads on the host: conditions, iteration limits, rows of accumulated outputs.
  package internal(set) var hostReads: [ValueID] = []
  /// Values that the runtime writes on the host: iteration numbers and counts, accumulated outputs.
  package internal(set) var hostWrites: [ValueID] = []
  /// For each value, the value whose memory it uses on its home device; itself if it has memory of its own.
  package internal(set) var memory: [ValueID]
  /// Values that nodes of a region compute for the enclosing block.
  var handedOut: Set<ValueID> = []
  /// The expected number of iterations of each loop, and its source.
  package internal(set) var expectations: [IterationExpectation] = []
  /// The branches and loops themselves, which the host runs.
  package internal(set) var controls: [Control] = []
  /// The signal that a node waits for, by the index of each node that a branch or loop starts on a device.
  var signals: [Int: String] = [:]

  /// The position of a node in the control flow.
  package struct Place: Hashable, Sendable {
    /// The node and role of each enclosing region, outermost first: `loop_1/body`; empty at the top level.
    package var region: String
    /// The expected number of executions in one inference.
    package var iterations: Double
    /// Whether it writes memory that other nodes of its block read; it runs after all of them.
    package var isLast: Bool
  }

  /// A branch or loop as a node that the host runs. Each time a region begins, the host signals the devices that hold
  /// the region's results: each of them starts a segment, and the host waits for it.
  package struct Control: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, Codable {
      case branch, loop

      /// The number of segments that a device starts for one turn: a loop's body and the copies at its end, or a
      /// branch's side.
      package var startsEachTurn: Double { self == .loop ? 2 : 1 }
    }

    package var name: String
    package var kind: Kind
    package var origins: [Origin]
    /// The values that it reads on the host, without constants.
    package var reads: [ValueID]
    /// The enclosing regions, as for a node.
    package var region: String
    /// The index in the graph's nodes at which its nodes begin.
    package var position: Int
    /// The expected number of times that one inference reaches it.
    package var times: Double
    /// The expected number of times that one inference begins one of its regions.
    package var turns: Double

    /// The value that signals the start of a turn to a device.
    package var signal: String { "\(name)#\(kind == .loop ? "trip" : "side")" }
  }

  /// Pairs of placed names that must share a device, found by either name.
  package struct Ties: Sendable {
    package struct Pair: Hashable, Sendable {
      package let first: String
      package let second: String

      /// The value that represents the pair in the planning problem.
      var value: String { "\(first)=\(second)" }
    }

    private(set) package var pairs: [Pair] = []
    private var places: [String: [Int]] = [:]

    package mutating func append(_ first: String, _ second: String) {
      places[first, default: []].append(pairs.count)
      places[second, default: []].append(pairs.count)
      pairs.append(Pair(first: first, second: second))
    }

    /// The pairs of one name, in insertion order.
    package subscript(name: String) -> [Pair] { (places[name] ?? []).map { pairs[$0] } }
  }

  package struct Source: Hashable, Sendable {
    package var name: String
    package var value: ValueID
  }

  /// A list of nodes and control flow, in order.
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
    /// Why it cannot run; nil if it can.
    package let refusal: String?
  }

  package struct LoopItem: Sendable {
    package let name: String
    package let limit: ValueID
    /// The condition before the first iteration, and after each; nil if the loop is unconditional.
    package let condition: ValueID?
    package let nextCondition: ValueID?
    package let iteration: ValueID
    package let iterations: ValueID
    package let rows: [Row]
    package let body: Block
    /// The carried values that the body reads, and the nodes before the loop that first write them.
    let carried: [(value: ValueID, enter: Int)]
    let results: [ValueID]
  }

  package struct Row: Sendable, Hashable {
    package let row: ValueID
    package let accumulated: ValueID
  }

  /// - Parameter iterations: the known iteration counts of loops that depend on data.
  package init(_ graph: Graph, iterations: IterationEstimate = IterationEstimate()) {
    var writer = FlatGraphWriter(graph, iterations)
    writer.write(graph)
    self = writer.flat
  }

  /// Whether the graph has control flow or states, which planning treats specially.
  package var hasControl: Bool { !hostReads.isEmpty || !hostWrites.isEmpty || !sources.isEmpty }

  /// Every name that a plan assigns a device; control flow is always assigned the host.
  package var placedNames: [String] { graph.nodes.map(\.name) + sources.map(\.name) + controls.map(\.name) }
}

/// The expected iteration counts of loops whose limit is not a constant.
package struct IterationEstimate: Hashable, Sendable {
  /// Measured counts, by the loop's name.
  package var measured: [String: Double]
  /// The measured share of executions in which a branch takes its first region, by the branch's name.
  package var measuredShares: [String: Double]
  /// The count of any other loop.
  package var standard: Double
  /// The share of executions in which any other branch takes its first region.
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

/// The iteration count that a plan assumes for one loop.
package struct IterationExpectation: Hashable, Sendable {
  package enum Basis: String, Hashable, Sendable {
    case constant = "a constant of the model"
    case measured
    case assumed = "assumed; --trips sets it"
  }

  package var loop: String
  package var iterations: Double
  package var basis: Basis
}
