/// An operation of a file, as far as it decides where the file is cut.
package struct StagedOperation {
  /// What it reads, itself or inside its sub-graphs.
  package var uses: [StagedUse]
  package var outputs: [String]
  /// Whether its results follow from the shapes of what it reads.
  package var readsOnlyShapes = false
  /// Whether it has outputs whose size is known when it has run.
  package var hasDataDependentShape = false
  /// Of a loop its body, of a branch its sides.
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
  /// Whether the mapper asks for its elements, because sizes depend on them.
  package var needsValue: Bool

  package init(name: String, needsValue: Bool) {
    self.name = name
    self.needsValue = needsValue
  }
}

/// A part of a model whose sizes are known once the parts before it have run: a graph, or a loop or branch that is walked.
package struct SizeStage {
  /// The loop or branch, by its position in the file's order; nil for a graph.
  package var hostOperation: Int?
  /// Its operations, by their positions in the file's order: of what is walked, those that make what it reads and is known.
  package var operations: [Int]
  /// What it reads of the model's inputs and of earlier stages.
  package var inputs: [String]
  /// Of these, the ones whose elements decide sizes: the stage is built for their values.
  package var valueDependent: Set<String>
  /// What it hands to later stages or is an output of the model.
  package var outputs: [String]
}

/// Cuts a model where sizes depend on data: behind an operation that finds how many results it has, before one that
/// reads a size from a tensor which is computed from the model's inputs, and around a loop or branch that is walked
/// because that is so inside.
///
/// What is computed from constants and shapes alone is *known*: it belongs to no stage, and each that reads it has the
/// operations that make it, which are folded while its graph is built. Everything else runs in the first stage that it
/// can.
package struct SizeStages {
  private enum Origin {
    /// Folded by any stage from this one on.
    case known(from: Int)
    /// Computed by a stage, -1 for the model's inputs. One that `grows` has its size when that stage has run.
    case computed(in: Int, grows: Bool)
  }

  /// Where an operation that computes runs. Of what runs in one stage what is walked waits for nothing else, nor does
  /// anything there wait for it.
  private struct Place: Hashable, Comparable {
    let stage: Int
    /// What is there by itself and walked, -1 for a graph.
    let hostOperation: Int

    static func < (left: Place, right: Place) -> Bool { (left.stage, left.hostOperation) < (right.stage, right.hostOperation) }
  }

  private let operations: [StagedOperation]
  private let inputs: [String]
  private let outputs: [String]
  private var origins: [String: Origin] = [:]
  /// The place of each operation that computes; nil for known and unused ones.
  private var places: [Place?]
  private var makers: [String: Int] = [:]

  /// - Parameters:
  ///   - operations: in an order in which each reads what comes before it.
  ///   - inputs: the values from outside that operations may read.
  ///   - constants: the names of values that the file holds.
  ///   - outputs: the values that are wanted.
  /// - Returns: one stage, of all operations and inputs, where there is nothing to cut.
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
    // Later ones first: what they read is a result of an earlier one.
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

  /// The operations of a graph that is not cut. What no output depends on is refused or mapped as everything else, unless
  /// there would have to be a cut for its sake.
  private var whole: [Int] {
    mutating get {
      let live = live
      let isInTheWay = operations.indices.contains { index in
        let operation = operations[index]
        let cuts = operation.hasDataDependentShape || operation.controlFlow != nil || operation.uses.contains(where: \.needsValue)
        return cuts && !live.contains(index)
      }
      return isInTheWay ? live.sorted() : Array(operations.indices)
    }
  }

  /// Where a value is among the results.
  private func place(of output: String) -> Place {
    switch origins[output] {
    case .known(let from): Place(stage: from, hostOperation: -1)
    case .computed(let stage, _): makers[output].flatMap { places[$0] } ?? Place(stage: max(stage, 0), hostOperation: -1)
    case nil: Place(stage: 0, hostOperation: -1)
    }
  }
}
