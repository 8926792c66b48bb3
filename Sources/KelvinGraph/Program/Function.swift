/// A callable function: typed features, and parts that run in order.
///
/// Parts read and write *slots*, by name. The caller fills the input slots, and the parts fill the output slots. A
/// tensor may have another element type than its output feature; the reader converts it.
package struct Function: Sendable {
  package var inputs: [Feature]
  package var outputs: [Feature]
  package var parts: [FunctionPart]
  /// Constants that a caller may override. They are not inputs: without overriding values they are constants in every
  /// respect.
  package var overridable: [Feature] = []
  /// Returns the function with some of these constants as inputs.
  package var overriding: (@Sendable (_ names: Set<String>) throws -> Function)?
  /// Returns the function in which the host executes branches and loops, given their names in
  /// `DynamicShapeControlFlow`; nil if the format does not support this.
  package var runningOnHost: (@Sendable (_ names: Set<String>) throws -> Function)?
  /// The control flow that the host executes because a graph cannot contain it (`DynamicShapeControlFlow`).
  package internal(set) var hostControlFlow: Set<String> = []

  package init(inputs: [Feature], outputs: [Feature], parts: [FunctionPart]) {
    self.inputs = inputs
    self.outputs = outputs
    self.parts = parts
  }

  /// The only image input with its name; nil if there is none, or several.
  package var imageInput: (name: String, image: ImageFeature)? {
    let images = inputs.compactMap { input in
      if case .image(let image) = input.type { (name: input.name, image: image) } else { nil }
    }
    return images.count == 1 ? images[0] : nil
  }

  /// Returns the function whose images are at most as wide and high as one of the sizes that they may have.
  package func limitingImages(to most: ImageFeature.Size) -> Function {
    var function = self
    for index in function.inputs.indices {
      if case .image(let image) = function.inputs[index].type {
        function.inputs[index].type = .image(image.limited(to: most))
      }
    }
    return function
  }

  /// The graphs among the parts, including those of loop bodies and branch sides, in order.
  package var graphParts: [GraphPart] { parts.flatMap(\.graphParts) }

  /// The host operations among the parts, in order.
  package var hostOperations: [any HostOperation] {
    parts.compactMap { if case .host(let step) = $0 { step } else { nil } }
  }

  /// By graph, the innermost loop whose iterations run it; without graphs that run once.
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

  /// Checks the parts.
  ///
  /// - Throws: `GraphError` if a part reads a slot that nothing before it writes, if an output is never written, or if
  ///   two graphs have the same name.
  package func verify() throws(GraphError) {
    var names: Set<String> = []
    let written = try verify(parts, Set(inputs.map(\.name)), &names)
    if let output = outputs.first(where: { !written.contains($0.name) }) {
      throw GraphError("output '\(output.name)'", "nothing computes it")
    }
  }

  /// Checks a list of parts.
  ///
  /// - Parameter given: The slots that have values before the parts run.
  /// - Returns: The slots that the parts write.
  private func verify(
    _ parts: [FunctionPart], _ given: Set<String>, _ names: inout Set<String>
  ) throws(GraphError) -> Set<String> {
    var written: Set<String> = []
    for part in parts {
      if let slot = part.inputs.first(where: { !written.contains($0) && !given.contains($0) }) {
        throw GraphError(part.place, "reads '\(slot)', which is not computed before it")
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
          throw GraphError(part.place, "its iterations leave '\(slot)', which nothing in its body computes")
        }
      case .branch(let branch):
        let known = given.union(written)
        for side in branch.sides {
          let left = try verify(side.parts, known, &names).union(known)
          if let slot = side.left.first(where: { !left.contains($0) }) {
            throw GraphError(part.place, "a branch of it leaves '\(slot)', which nothing in it computes")
          }
          guard side.left.count == branch.outputs.count else {
            throw GraphError(
              part.place, "a branch of it leaves \(side.left.count) values, expected \(branch.outputs.count)")
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

  /// The slots that the part reads.
  package var inputs: [String] {
    switch self {
    case .graph(let part): part.inputs
    case .host(let step): step.inputs
    case .loop(let loop): loop.inputs
    case .branch(let branch): branch.inputs
    }
  }

  /// The slots that the part writes.
  package var outputs: [String] {
    switch self {
    case .graph(let part): part.outputs
    case .host(let step): step.outputs
    case .loop(let loop): loop.outputs
    case .branch(let branch): branch.outputs
    }
  }

  /// The graphs that the part consists of or contains.
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

/// A graph among a function's parts: a source that is specialized for the types of its inputs.
package struct GraphPart: Sendable {
  /// The name, unique among the function's graphs. Plans, packed weights and errors use it.
  package var name: String
  /// The slots that may be inputs of the graph. A slot that an earlier part writes holds a tensor.
  package var inputs: [String]
  /// The slots of the graph's outputs, in the order of `Graph.outputs`. The last outputs of a graph may be counts of
  /// others, which have no slots.
  package var outputs: [String]
  /// The inputs whose elements the graph is specialized for, because sizes depend on them. They are constants in the
  /// graph.
  package var valueDependent: Set<String>
  package var source: any GraphSource

  /// The name of a function's only graph.
  package static let onlyName = "main"

  package init(
    name: String = onlyName, inputs: [String], outputs: [String], valueDependent: Set<String> = [],
    source: any GraphSource
  ) {
    self.name = name
    self.inputs = inputs
    self.outputs = outputs
    self.valueDependent = valueDependent
    self.source = source
  }
}

/// A source that builds a graph for concrete input sizes. Sources keep their file mapped, so that building for other
/// sizes is cheap and shares all weights.
package protocol GraphSource: Sendable {
  /// Builds a graph.
  ///
  /// - Parameters:
  ///   - shapes: The shape of each tensor or image input of the function, by name; omitted inputs have their defaults.
  ///   - computed: The type of each slot that an earlier part of the function has written. It is an input of the graph
  ///     under the slot's name, and replaces a feature of that name.
  /// - Throws: `GraphError`, or a format's error that lists all unsupported operations of the model.
  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph

  /// Builds a graph for which elements are known too. Only sources of parts with `valueDependent` inputs need to
  /// implement it.
  ///
  /// - Parameter values: The tensors of the part's `valueDependent` slots, which are not in `shapes` or `computed`.
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

  /// Builds the graph of a part without computed inputs.
  package func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    try graph(shapes: shapes, computed: [:], evaluator: evaluator)
  }
}
