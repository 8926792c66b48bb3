package import KelvinGraph
package import KelvinPlanning

/// The order of one inference's segments, copies and control flow.
package struct Schedule: Sendable {
  /// A segment: nodes that one device executes in one submission.
  package struct Run: Sendable {
    package let device: String
    /// The segment's nodes; inputs and outputs are the values that cross its boundary.
    package let graph: Graph
    /// The values of `graph.inputs` in the whole graph.
    package let inputs: [ValueID]
    package let outputs: [ValueID]
    /// Whether it writes memory that other steps may be reading; it starts when they have finished.
    package let overwrites: Bool
  }

  /// A copy of a value from one device to another.
  package struct Transfer: Hashable, Sendable {
    package let value: ValueID
    package let from: String
    package let to: String
  }

  package enum Step: Hashable, Sendable {
    case run(segment: Int)
    case transfer(Transfer)
    case branch(Branch)
    case loop(Loop)
  }

  /// A choice between two lists of steps by a value on the host.
  package struct Branch: Hashable, Sendable {
    package let name: String
    package let condition: ValueID
    package let then: Block
    package let otherwise: Block
  }

  /// A list of steps inside control flow.
  package struct Block: Hashable, Sendable {
    package let steps: [Step]
    /// Why the block cannot run; nil if it can.
    package let refusal: String?
    /// The number of steps, including nested ones.
    let count: Int

    init(_ steps: [Step], refusal: String? = nil) {
      self.steps = steps
      self.refusal = refusal
      count = steps.reduce(0) { $0 + $1.count }
    }
  }

  /// Repeated steps. The host holds the values that the loop itself reads and writes.
  package struct Loop: Hashable, Sendable {
    package let name: String
    package let limit: ValueID
    package let condition: ValueID?
    package let nextCondition: ValueID?
    package let iteration: ValueID
    package let iterations: ValueID
    package let rows: [FlatGraph.Row]
    package let body: Block
  }

  package let segments: [Run]
  package let steps: [Step]

  /// - Parameters:
  ///   - placement: a device for every placed name of the graph.
  ///   - transfers: the plan's copies; with the placement, they must bring every value to each device that reads it.
  ///   - host: the device of inputs and outputs.
  ///   - isHost: whether a device computes on the calling thread. Other devices are started first, so that work
  ///     overlaps.
  ///   - costs: decide which segments end early, for the sake of other devices; nil if none does.
  package init(
    _ flat: FlatGraph, placement: [String: String], transfers: [PlannedTransfer], host: String,
    isHost: @escaping (String) -> Bool, costs: OverlapCosts? = nil
  ) throws(RuntimeError) {
    var writer = try ScheduleWriter(flat, placement, transfers, host, isHost: isHost, costs)
    steps = try writer.write()
    segments = writer.segments
  }
}

extension Schedule.Step {
  /// The number of the step and the steps inside it.
  var count: Int {
    switch self {
    case .run, .transfer: 1
    case .branch(let branch): 1 + branch.then.count + branch.otherwise.count
    case .loop(let loop): 1 + loop.body.count
    }
  }

  /// Visits the step and the steps inside it, in numbering order.
  func forEach(_ visit: (Schedule.Step) -> Void) {
    visit(self)
    switch self {
    case .run, .transfer: break
    case .branch(let branch):
      for step in branch.then.steps + branch.otherwise.steps { step.forEach(visit) }
    case .loop(let loop): for step in loop.body.steps { step.forEach(visit) }
    }
  }
}

extension Schedule {
  /// Every step, each followed by the steps inside it, in numbering order.
  package var flatSteps: [Step] {
    var flat: [Step] = []
    for step in steps { step.forEach { flat.append($0) } }
    return flat
  }
}
