import KelvinBasics
package import KelvinGraph

/// A small graph with inputs; every device that supports its nodes must compute the reference's results.
package struct ConformanceCase: Sendable, CustomStringConvertible {
  /// The operator's name and the case's properties: `convolution 3x3 stride 2 dilated float16`.
  package let name: String
  package let graph: Graph
  package let inputs: [Tensor]

  package init(name: String, graph: Graph, inputs: [Tensor]) {
    self.name = name
    self.graph = graph
    self.inputs = inputs
  }

  package var description: String { name }

  /// Every case of every operator.
  package static let all: [ConformanceCase] =
    [
      argReduce,
      attention,
      batchNormalization,
      binary,
      binaryInteger,
      cast,
      chains,
      blockQuantizedWeights,
      compare,
      concat,
      convolution,
      convolutionInteger,
      convolutionTranspose,
      cumulativeReduce,
      dequantize,
      expand,
      gather,
      gatherElements,
      gatherND,
      integerPool,
      integers,
      layerNormalization,
      linear,
      linearInteger,
      localResponseNormalization,
      logic,
      manyElements,
      matmul,
      matmulInteger,
      nonMaximumSuppression,
      nonZero,
      normalizedLinear,
      overlapAdd,
      pad,
      pool,
      quantize,
      randomKey,
      randomUniform,
      recurrence,
      reduce,
      reshape,
      resize,
      rotaryEmbedding,
      scatterElements,
      scatterND,
      select,
      slice,
      softmax,
      topK,
      transpose,
      unary,
      unique,
      updateCache,
    ].flatMap { $0 }
}

/// An operand of a case's node.
package enum CaseOperand: Sendable {
  /// An input, random in -1 ..< 1.
  case input(Shape)
  /// A constant, random in -1 ..< 1.
  case weight(Shape)
  /// A constant with these values.
  case values([Double], Shape)
  /// An input, random in this range.
  case ranged(Shape, ClosedRange<Float>)
  /// An input with these values and type.
  case exactly(Tensor)
  /// A constant with these values and type.
  case fixed(Tensor)
  /// A constant in an encoding of this name.
  case encoded(Weight, String)
}

extension ConformanceCase {
  /// Creates a graph of one node. The seed derives from the name, so a case is the same on every run.
  package static func node(
    _ name: String, _ op: any Operator, _ operands: CaseOperand..., scalar: ScalarType = .float32
  ) -> ConformanceCase {
    node(name, op, operands, scalar: scalar)
  }

  package static func node(
    _ name: String, _ op: any Operator, _ operands: [CaseOperand], scalar: ScalarType = .float32
  ) -> ConformanceCase {
    let suffix = scalar == .float32 ? "" : " \(scalar.rawValue)"
    let encodings = operands.compactMap { if case .encoded(_, let encoding) = $0 { " of \(encoding)" } else { nil } }
    let fullName = "\(op.name) \(name)\(encodings.joined())\(suffix)"
    var random = SeededGenerator(
      seed: fullName.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    var graph = Graph()
    var inputs: [Tensor] = []
    var ids: [ValueID] = []
    for (index, operand) in operands.enumerated() {
      let name = "operand\(index)"
      var weight: Weight?
      switch operand {
      case .input(let shape): inputs.append(.random(scalar, shape, -1...1, &random))
      case .ranged(let shape, let range): inputs.append(.random(scalar, shape, range, &random))
      case .exactly(let given): inputs.append(given)
      case .fixed(let given): weight = Weight(given)
      case .weight(let shape): weight = Weight(.random(scalar, shape, -1...1, &random))
      case .values(let values, let shape): weight = Weight(Tensor(TensorType(scalar, shape), rounding: values))
      case .encoded(let given, _): weight = given
      }
      let type = weight?.type ?? inputs[inputs.count - 1].type
      let id = graph.addValue(Value(name: name, type: type, weight: weight))
      ids.append(id)
      if weight == nil { graph.inputs.append(id) }
    }
    do {
      let types = try op.infer(graph.types(ids))
      let outputs = types.enumerated().map { graph.addValue(Value(name: "result\($0)", type: $1)) }
      let origin = Origin(name: fullName, kind: op.name, index: 0, work: 1)
      if let decomposable = op as? any DecomposableOperator {
        graph.nodes = [
          try .decomposable(
            name: "node", op: decomposable, inputs: ids, types: graph.types(ids), output: outputs[0], origins: [origin])
        ]
      } else {
        graph.nodes = [Node(name: "node", op: op, inputs: ids, outputs: outputs, origins: [origin])]
      }
      graph.outputs = outputs
      try graph.verify()
    } catch {
      preconditionFailure("conformance case '\(fullName)' is not a valid graph: \(error)")
    }
    return ConformanceCase(name: fullName, graph: graph, inputs: inputs)
  }
}
