/// The properties of a file's operation that determine where the model is split.
package struct StagedOperation {
  /// The values that the operation or its sub-graphs read.
  package var uses: [StagedUse]
  package var outputs: [String]
  /// Whether the results depend only on the shapes of the inputs.
  package var readsOnlyShapes = false
  /// Whether the operation has outputs whose size is known only after it ran.
  package var hasDataDependentShape = false
  /// The body of a loop, or the sides of a branch.
  package var controlFlow: StagedControlFlow?

  package init(
    uses: [StagedUse], outputs: [String], readsOnlyShapes: Bool = false, hasDataDependentShape: Bool = false,
    controlFlow: StagedControlFlow? = nil
  ) {
    self.uses = uses
    self.outputs = outputs
    self.readsOnlyShapes = readsOnlyShapes
    self.hasDataDependentShape = hasDataDependentShape
    self.controlFlow = controlFlow
  }
}

/// A value that an operation reads.
package struct StagedUse {
  package var name: String
  /// Whether the mapper needs the elements of the value, because sizes depend on them.
  package var needsValue: Bool

  package init(name: String, needsValue: Bool) {
    self.name = name
    self.needsValue = needsValue
  }
}

/// A part of a model whose sizes are known once the parts before it have run: a graph, or control flow that the host
/// executes.
package struct SizeStage {
  /// The loop or branch that the host executes, by its index in the file's order; nil for a graph.
  package var hostOperation: Int?
  /// The operations, by their indices in the file's order. For host control flow, these are the operations that compute
  /// its known inputs.
  package var operations: [Int]
  /// The model's inputs and the values of earlier stages that the stage reads.
  package var inputs: [String]
  /// The inputs whose elements determine sizes: the stage is specialized for their values.
  package var valueDependent: Set<String>
  /// The values that later stages read or that are outputs of the model.
  package var outputs: [String]
}

/// The partition of a model at data-dependent sizes. The model is split after an operation with a data-dependent number
/// of results and before one that reads a size from a computed tensor. It is also split around a loop or branch with
/// such operations inside, which the host executes.
///
/// A value that is computed from constants and shapes alone is *known*. Its operations do not belong to a single stage:
/// each stage that reads it includes them, and they are folded while its graph is built. Every other operation runs in
/// the earliest possible stage.
package struct SizeStages {
  private enum Origin {
    /// Any stage from this one on folds the value.
    case known(from: Int)
    /// A stage computes the value, -1 for the model's inputs. The size of one that `grows` is known when that stage has
    /// run.
    case computed(in: Int, grows: Bool)
  }

  /// The position at which an operation runs. Within a stage, control flow that the host executes is independent of all
  /// other operations.
  private struct Place: Hashable, Comparable {
    let stage: Int
    /// The index of an operation that the host executes; -1 for a graph.
    let hostOperation: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.stage, left.hostOperation) < (right.stage, right.hostOperation)
    }
  }

  private let operations: [StagedOperation]
  private let inputs: [String]
  private let outputs: [String]
  private var origins: [String: Origin] = [:]
  /// The position of each computed operation; nil for known and unused ones.
  private var places: [Place?]
  private var makers: [String: Int] = [:]

  /// Returns the stages of a model.
  ///
  /// - Parameters:
  ///   - operations: The operations in topological order.
  ///   - inputs: The outer values that operations may read.
  ///   - constants: The names of values that the file holds.
  ///   - outputs: The requested values.
  /// - Returns: A single stage of all operations and inputs if no split is necessary.
  package static func stages(
    of operations: [StagedOperation], inputs: [String], constants: Set<String>, outputs: [String]
  ) -> [SizeStage] {
    var cut = SizeStages(operations, inputs, outputs)
    cut.place(constants)
    return cut.parts()
  }

  package init(_ operations: [StagedOperation], _ inputs: [String], _ outputs: [String]) {
    self.operations = operations
    self.inputs = inputs
    self.outputs = outputs
    places = Array(repeating: nil, count: operations.count)
    for (index, operation) in operations.enumerated() {
      for output in operation.outputs where !output.isEmpty { makers[output] = index }
    }
  }

  /// The operations that outputs depend on.
  package private(set) lazy var live: Set<Int> = {
    var live: Set<Int> = []
    var pending = outputs.compactMap { makers[$0] }
    while let index = pending.popLast() {
      guard live.insert(index).inserted else { continue }
      pending += operations[index].uses.compactMap { makers[$0.name] }
    }
    return live
  }()

  package mutating func place(_ constants: Set<String>) {
    for name in constants { origins[name] = .known(from: 0) }
    for input in inputs { origins[input] = .computed(in: -1, grows: false) }
    let live = live
    for (index, operation) in operations.enumerated() where live.contains(index) {
      let isHostExecuted = operation.controlFlow?.isHostExecuted(isKnown) ?? false
      var isKnown = !isHostExecuted
      var stage = 0
      for use in operation.uses {
        switch origins[use.name] {
        case .known(let from): stage = max(stage, from)
        case .computed(let maker, let grows):
          isKnown = isKnown && operation.readsOnlyShapes
          stage = max(stage, grows || isHostExecuted || (use.needsValue && maker >= 0) ? maker + 1 : maker)
        // A constant that is not read, or a name that the graph's source refuses.
        case nil: break
        }
      }
      if !isKnown { places[index] = Place(stage: stage, hostOperation: isHostExecuted ? index : -1) }
      for output in operation.outputs where !output.isEmpty {
        origins[output] =
          isKnown ? .known(from: stage) : .computed(in: stage, grows: operation.hasDataDependentShape || isHostExecuted)
      }
    }
  }

  /// Whether a value is computed from constants and shapes alone.
  package func isKnown(_ name: String) -> Bool {
    if case .known? = origins[name] { true } else { false }
  }

  package mutating func parts() -> [SizeStage] {
    let count = 1 + max(places.compactMap { $0?.stage }.max() ?? 0, outputs.map { place(of: $0).stage }.max() ?? 0)
    let graphs = (0..<count).map { Place(stage: $0, hostOperation: -1) }
    let places = Set(graphs + self.places.compactMap { $0 }).sorted()
    var members: [Place: Set<Int>] = [:]
    for (index, place) in self.places.enumerated() { if let place { members[place, default: []].insert(index) } }
    var read: [Place: [String]] = [:]
    var valueDependent: [Place: Set<String>] = [:]
    var results: [Place: [String]] = [:]
    for output in outputs { results[place(of: output), default: []].append(output) }
    // Reversed, because a later operation reads the results of earlier ones.
    for place in places.reversed() {
      var pending =
        members[place, default: []].flatMap { operations[$0].uses }
        + results[place, default: []].map { StagedUse(name: $0, needsValue: false) }
      var seen: Set<String> = []
      while let use = pending.popLast() {
        let maker = makers[use.name]
        switch origins[use.name] {
        case .known:
          if let maker, members[place, default: []].insert(maker).inserted { pending += operations[maker].uses }
        case .computed where maker.flatMap { self.places[$0] } != place:
          if use.needsValue, place.hostOperation < 0 { valueDependent[place, default: []].insert(use.name) }
          guard seen.insert(use.name).inserted else { continue }
          read[place, default: []].append(use.name)
          if let made = maker.flatMap({ self.places[$0] }), results[made]?.contains(use.name) != true {
            results[made, default: []].append(use.name)
          }
        case .computed, nil: break
        }
      }
    }
    let parts = places.map { place in
      SizeStage(
        hostOperation: place.hostOperation < 0 ? nil : place.hostOperation,
        operations: members[place, default: []].subtracting([place.hostOperation]).sorted(),
        inputs: read[place, default: []].sorted(), valueDependent: valueDependent[place, default: []],
        outputs: results[place, default: []])
    }.filter { !$0.outputs.isEmpty }
    guard parts.count > 1 || parts.contains(where: { !$0.valueDependent.isEmpty || $0.hostOperation != nil }) else {
      return [SizeStage(operations: whole, inputs: inputs, valueDependent: [], outputs: outputs)]
    }
    return parts
  }

  /// The operations of a graph that is not split. Operations that no output depends on are mapped or refused like
  /// others, except those that would require a split.
  private var whole: [Int] {
    mutating get {
      let live = live
      let isInTheWay = operations.indices.contains { index in
        let operation = operations[index]
        let cuts =
          operation.hasDataDependentShape || operation.controlFlow != nil
          || operation.uses.contains(where: \.needsValue)
        return cuts && !live.contains(index)
      }
      return isInTheWay ? live.sorted() : Array(operations.indices)
    }
  }

  /// Returns the position of a result.
  private func place(of output: String) -> Place {
    switch origins[output] {
    case .known(let from): Place(stage: from, hostOperation: -1)
    case .computed(let stage, _):
      makers[output].flatMap { places[$0] } ?? Place(stage: max(stage, 0), hostOperation: -1)
    case nil: Place(stage: 0, hostOperation: -1)
    }
  }
}
