/// An operation of a file, as far as it decides where the file is cut.
struct StagedOperation {
  /// What it reads, itself or inside its sub-graphs.
  var uses: [StagedUse]
  var outputs: [String]
  /// Whether its results follow from the shapes of what it reads.
  var readsOnlyShapes = false
  /// Whether it has outputs whose size is known when it has run.
  var findsItsSize = false
}

/// A value that an operation reads.
struct StagedUse {
  var name: String
  /// Whether the mapper asks for its elements, because sizes depend on them.
  var needsValue: Bool
}

/// A part of a model whose sizes are known once the parts before it have run.
struct SizeStage {
  /// Its operations, by their positions in the file's order.
  var operations: [Int]
  /// What it reads of the model's inputs and of earlier stages.
  var inputs: [String]
  /// Of these, the ones whose elements decide sizes: the stage is built for their values.
  var valued: Set<String>
  /// What it hands to later stages or is an output of the model.
  var outputs: [String]
}

/// Cuts a model where sizes depend on data: behind an operation that finds how many results it has, and before one that
/// reads a size from a tensor which is computed from the model's inputs.
///
/// What is computed from constants and shapes alone is *known*: it belongs to no stage, and each that reads it has the
/// operations that make it, which are folded while its graph is built. Everything else runs in the first stage that it
/// can.
struct SizeStages {
  private enum Origin {
    /// Folded by any stage from this one on.
    case known(from: Int)
    /// Computed by a stage, -1 for the model's inputs. One that `grows` has its size when that stage has run.
    case computed(in: Int, grows: Bool)
  }

  private let operations: [StagedOperation]
  private let inputs: [String]
  private let outputs: [String]
  private var origins: [String: Origin] = [:]
  /// The stage of each operation that computes; nil for known and unused ones.
  private var stages: [Int?]
  private var makers: [String: Int] = [:]

  /// - Parameters:
  ///   - operations: in an order in which each reads what comes before it.
  ///   - inputs: the values from outside that operations may read.
  ///   - constants: the names of values that the file holds.
  ///   - outputs: the values that are wanted.
  /// - Returns: one stage, of all operations and inputs, where there is nothing to cut.
  static func stages(
    of operations: [StagedOperation], inputs: [String], constants: Set<String>, outputs: [String]
  ) -> [SizeStage] {
    var cut = SizeStages(operations, inputs, outputs)
    cut.place(constants)
    return cut.parts()
  }

  private init(_ operations: [StagedOperation], _ inputs: [String], _ outputs: [String]) {
    self.operations = operations
    self.inputs = inputs
    self.outputs = outputs
    stages = Array(repeating: nil, count: operations.count)
    for (index, operation) in operations.enumerated() {
      for output in operation.outputs where !output.isEmpty { makers[output] = index }
    }
  }

  /// The operations that outputs depend on.
  private var live: Set<Int> {
    var live: Set<Int> = []
    var pending = outputs.compactMap { makers[$0] }
    while let index = pending.popLast() {
      guard live.insert(index).inserted else { continue }
      pending += operations[index].uses.compactMap { makers[$0.name] }
    }
    return live
  }

  private mutating func place(_ constants: Set<String>) {
    for name in constants { origins[name] = .known(from: 0) }
    for input in inputs { origins[input] = .computed(in: -1, grows: false) }
    let live = live
    for (index, operation) in operations.enumerated() where live.contains(index) {
      var isKnown = true
      var stage = 0
      for use in operation.uses {
        switch origins[use.name] {
        case .known(let from): stage = max(stage, from)
        case .computed(let maker, let grows):
          isKnown = isKnown && operation.readsOnlyShapes
          stage = max(stage, grows || (use.needsValue && maker >= 0) ? maker + 1 : maker)
        // A constant that is not read, or a name that the graph's source refuses.
        case nil: break
        }
      }
      if !isKnown { stages[index] = stage }
      for output in operation.outputs where !output.isEmpty {
        origins[output] = isKnown ? .known(from: stage) : .computed(in: stage, grows: operation.findsItsSize)
      }
    }
  }

  private func parts() -> [SizeStage] {
    let count = 1 + max(stages.compactMap { $0 }.max() ?? 0, outputs.map(stage).max() ?? 0)
    var members = (0..<count).map { stage in Set(stages.indices.filter { stages[$0] == stage }) }
    var read = [[String]](repeating: [], count: count)
    var valued = [Set<String>](repeating: [], count: count)
    var results = [[String]](repeating: [], count: count)
    for output in outputs { results[stage(output)].append(output) }
    // Later stages first: what they read is a result of an earlier one.
    for stage in (0..<count).reversed() {
      var pending =
        members[stage].flatMap { operations[$0].uses }
        + results[stage].map { StagedUse(name: $0, needsValue: false) }
      var seen: Set<String> = []
      while let use = pending.popLast() {
        switch origins[use.name] {
        case .known:
          if let maker = makers[use.name], members[stage].insert(maker).inserted { pending += operations[maker].uses }
        case .computed(let maker, _) where maker < stage:
          if use.needsValue { valued[stage].insert(use.name) }
          guard seen.insert(use.name).inserted else { continue }
          read[stage].append(use.name)
          if maker >= 0, !results[maker].contains(use.name) { results[maker].append(use.name) }
        case .computed, nil: break
        }
      }
    }
    let parts = (0..<count).map { stage in
      SizeStage(
        operations: members[stage].sorted(), inputs: read[stage].sorted(), valued: valued[stage],
        outputs: results[stage])
    }.filter { !$0.outputs.isEmpty }
    guard parts.count > 1 || parts.contains(where: { !$0.valued.isEmpty }) else {
      // What no output depends on is refused or mapped as everything else.
      return [SizeStage(operations: Array(operations.indices), inputs: inputs, valued: [], outputs: outputs)]
    }
    return parts
  }

  /// The stage that has a value among its results.
  private func stage(_ output: String) -> Int {
    switch origins[output] {
    case .known(let from): from
    case .computed(let maker, _): max(maker, 0)
    case nil: 0
    }
  }
}
