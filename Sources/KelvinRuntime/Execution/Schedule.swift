package import KelvinGraph
package import KelvinPlanning

/// The order in which one inference's segments, copies and control flow happen.
package struct Schedule: Sendable {
  /// A connected run of nodes on one device.
  package struct Run: Sendable {
    package let device: String
    /// Its inputs and outputs are the values that cross its boundary.
    package let graph: Graph
    /// The same values in the whole graph.
    package let inputs: [ValueID]
    package let outputs: [ValueID]
    /// Whether it writes memory that others may be reading: it starts when they have finished.
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

  /// One of two lists of steps, by a value on the host.
  package struct Branch: Hashable, Sendable {
    package let name: String
    package let condition: ValueID
    package let then: Arm
    package let otherwise: Arm
  }

  /// A list of steps inside control flow.
  package struct Block: Hashable, Sendable {
    package let steps: [Step]
    /// How many they are with those inside them.
    let count: Int

    init(_ steps: [Step]) {
      self.steps = steps
      count = steps.reduce(0) { $0 + $1.count }
    }
  }

  package struct Arm: Hashable, Sendable {
    package let block: Block
    /// Why it cannot be taken.
    package let refusal: String?
  }

  /// Steps that are repeated. What it reads and writes itself lies on the host.
  package struct Loop: Hashable, Sendable {
    package let name: String
    package let limit: ValueID
    package let condition: ValueID?
    package let nextCondition: ValueID?
    package let iteration: ValueID
    package let trips: ValueID
    package let rows: [FlatGraph.Row]
    package let body: Block
  }

  package let segments: [Run]
  package let steps: [Step]

  /// - Parameters:
  ///   - placement: a device for every placed name of the graph.
  ///   - transfers: the plan's copies; together with the placement they bring every value where it is needed.
  ///   - host: where inputs start and outputs end.
  ///   - isHost: whether a device computes on the calling thread. Others are started first, so that they overlap.
  package init(
    _ flat: FlatGraph, placement: [String: String], transfers: [PlannedTransfer], host: String, isHost: (String) -> Bool
  ) throws(RuntimeError) {
    var writer = try ScheduleWriter(flat, placement, transfers, host)
    steps = try writer.write(isHost)
    segments = writer.segments
  }
}

extension Schedule.Step {
  /// Itself and the steps inside it.
  var count: Int {
    switch self {
    case .run, .transfer: 1
    case .branch(let branch): 1 + branch.then.block.count + branch.otherwise.block.count
    case .loop(let loop): 1 + loop.body.count
    }
  }

  /// The step and the steps inside it, in the order in which they are numbered.
  func forEach(_ visit: (Schedule.Step) -> Void) {
    visit(self)
    switch self {
    case .run, .transfer: break
    case .branch(let branch):
      for arm in [branch.then, branch.otherwise] {
        for step in arm.block.steps { step.forEach(visit) }
      }
    case .loop(let loop): for step in loop.body.steps { step.forEach(visit) }
    }
  }
}

extension Schedule {
  /// Every step, those inside control flow behind it, in the order in which they are numbered.
  package var flatSteps: [Step] {
    var flat: [Step] = []
    for step in steps { step.forEach { flat.append($0) } }
    return flat
  }
}
