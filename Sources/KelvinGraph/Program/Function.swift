/// One callable function: typed features around parts that run in their order.
///
/// Parts read and write *slots*, by name. Inputs are slots that the caller fills, outputs are slots that parts have
/// filled at the end. A tensor may have another element type than the output feature: whoever reads it converts.
package struct Function: Sendable {
  package var inputs: [Feature]
  package var outputs: [Feature]
  package var parts: [FunctionPart]
  /// Constants for which a caller may give other values. They are none of the inputs: without such values they are constants
  /// in every way.
  package var overridable: [Feature] = []
  /// The same function with some of them as inputs.
  package var overriding: (@Sendable (_ names: Set<String>) throws -> Function)?
  /// The same function with branches and loops walked, by their names in `DynamicShapeControlFlow`; nil where the format cannot.
  package var runningOnHost: (@Sendable (_ names: Set<String>) throws -> Function)?
  /// Those that it walks because no graph could hold them (`DynamicShapeControlFlow`).
  package internal(set) var hostControlFlow: Set<String> = []

  package init(inputs: [Feature], outputs: [Feature], parts: [FunctionPart]) {
    self.inputs = inputs
    self.outputs = outputs
    self.parts = parts
  }

  /// The graphs among the parts, those of loops' bodies and branches' sides included, in order.
  package var graphParts: [GraphPart] { parts.flatMap(\.graphParts) }

  /// The host steps among the parts, in order.
  package var hostOperations: [any HostOperation] {
    parts.compactMap { if case .host(let step) = $0 { step } else { nil } }
  }

  /// By graph, the innermost loop whose trips run it; those that run once are left out.
  package var loopsAroundGraphs: [String: LoopPart] {
    var found: [String: LoopPart] = [:]
    func look(_ parts: [FunctionPart], in loop: LoopPart?) {
      for part in parts {
        switch part {
        case .graph(let graph): found[graph.name] = loop
        case .host: break
        case .loop(let inner): look(inner.body, in: inner)
        case .branch(let branch): for side in branch.sides { look(side.parts, in: loop) }
        }
      }
    }
    look(parts, in: nil)
    return found
  }

  /// - Throws: `GraphError` where a part reads what nothing before it writes, an output is never written, or two graphs
  ///   have one name.
  package func verify() throws(GraphError) {
    var names: Set<String> = []
    let written = try verify(parts, Set(inputs.map(\.name)), &names)
    if let output = outputs.first(where: { !written.contains($0.name) }) {
      throw GraphError("output '\(output.name)'", "nothing computes it")
    }
  }

  /// - Parameter given: the slots that have values before the parts run.
  /// - Returns: the slots that the parts write.
  private func verify(
    _ parts: [FunctionPart], _ given: Set<String>, _ names: inout Set<String>
  ) throws(GraphError) -> Set<String> {
    var written: Set<String> = []
    for part in parts {
      if let slot = part.inputs.first(where: { !written.contains($0) && !given.contains($0) }) {
        throw GraphError(part.place, "reads '\(slot)', which nothing before it computes")
      }
      switch part {
      case .host: break
      case .graph(let graph):
        guard names.insert(graph.name).inserted else {
          throw GraphError(part.place, "another graph of the function has this name")
        }
      case .loop(let loop):
        let known = given.union(written).union(loop.given)
        let left = try verify(loop.body, known, &names)
        if let slot = loop.left.subtracting(known).subtracting(left).min() {
          throw GraphError(part.place, "its trips leave '\(slot)', which nothing in its body computes")
        }
      case .branch(let branch):
        let known = given.union(written)
        for side in branch.sides {
          let left = try verify(side.parts, known, &names).union(known)
          if let slot = side.left.first(where: { !left.contains($0) }) {
            throw GraphError(part.place, "a side of it leaves '\(slot)', which nothing in it computes")
          }
          guard side.left.count == branch.outputs.count else {
            throw GraphError(
              part.place, "a side of it leaves \(side.left.count) values, expected \(branch.outputs.count)")
          }
        }
      }
      written.formUnion(part.outputs)
    }
    return written
  }
}

/// A part of a function.
package enum FunctionPart: Sendable {
  case graph(GraphPart)
  case host(any HostOperation)
  case loop(LoopPart)
  case branch(BranchPart)

  /// The slots it reads.
  package var inputs: [String] {
    switch self {
    case .graph(let part): part.inputs
    case .host(let step): step.inputs
    case .loop(let loop): loop.inputs
    case .branch(let branch): branch.inputs
    }
  }

  /// The slots it writes.
  package var outputs: [String] {
    switch self {
    case .graph(let part): part.outputs
    case .host(let step): step.outputs
    case .loop(let loop): loop.outputs
    case .branch(let branch): branch.outputs
    }
  }

  /// The graphs that it is or has.
  package var graphParts: [GraphPart] {
    switch self {
    case .graph(let part): [part]
    case .host: []
    case .loop(let loop): loop.body.flatMap(\.graphParts)
    case .branch(let branch): branch.sides.flatMap(\.parts).flatMap(\.graphParts)
    }
  }

  package var place: String {
    switch self {
    case .graph(let part): "graph '\(part.name)'"
    case .host(let step): "step \(type(of: step).name)"
    case .loop(let loop): "loop '\(loop.name)'"
    case .branch(let branch): "branch '\(branch.name)'"
    }
  }
}

/// A graph among a function's parts: a recipe that is specialised by the types of what it reads.
package struct GraphPart: Sendable {
  /// Unique among the function's graphs: plans, packed weights and errors go by it.
  package var name: String
  /// The slots that may be inputs of the graph. Those that an earlier part writes hold tensors.
  package var inputs: [String]
  /// The slots that the graph's outputs are written to, in the order of `Graph.outputs`, whose last ones may be counts
  /// of others that nothing else reads.
  package var outputs: [String]
  /// The inputs whose elements the graph is specialised by, because sizes depend on them. They are constants in it.
  package var valueDependent: Set<String>
  package var source: any GraphSource

  /// The name of a function's only graph.
  package static let onlyName = "main"

  package init(
    name: String = onlyName, inputs: [String], outputs: [String], valueDependent: Set<String> = [], source: any GraphSource
  ) {
    self.name = name
    self.inputs = inputs
    self.outputs = outputs
    self.valueDependent = valueDependent
    self.source = source
  }
}

/// Builds a graph for concrete input sizes. Sources keep their file mapped, so building again for other sizes is cheap
/// and shares every weight.
package protocol GraphSource: Sendable {
  /// - Parameters:
  ///   - shapes: the shape of each tensor or image input of the function, by name; those left out take their default.
  ///   - computed: the type of each slot that an earlier part of the function has written. They are inputs of the graph
  ///     under the slot's name, in the place of a feature of that name.
  /// - Throws: `GraphError`, or a format's error that lists everything the model needs and Kelvin lacks.
  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph

  /// The graph where elements are known too. Sources of parts without `valueDependent` inputs have no need of it.
  ///
  /// - Parameter values: each of the part's `valueDependent` slots, which are neither among `shapes` nor among `computed`.
  func graph(
    shapes: [String: Shape], computed: [String: TensorType], values: [String: Tensor], evaluator: any ConstantEvaluator
  ) throws -> Graph
}

extension GraphSource {
  package func graph(
    shapes: [String: Shape], computed: [String: TensorType], values: [String: Tensor], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    guard let slot = values.keys.min() else {
      return try graph(shapes: shapes, computed: computed, evaluator: evaluator)
    }
    throw GraphError("slot '\(slot)'", "the graph that reads it is not built for values")
  }

  /// The graph where nothing was computed before it.
  package func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    try graph(shapes: shapes, computed: [:], evaluator: evaluator)
  }
}
