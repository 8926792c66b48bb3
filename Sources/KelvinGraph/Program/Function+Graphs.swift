import KelvinBasics

extension Function {
  /// A graph part, built where its inputs are known.
  package struct BuiltGraph: Sendable {
    package let part: GraphPart
    /// The types of what earlier parts write into its inputs.
    package let computed: [String: TensorType]
    /// Nil where it depends on data: on the type of an input, or on the elements of one, on the trip of a loop, or
    /// on the side of a branch; and where the usual sizes of inputs are none that it takes.
    package let graph: Graph?
  }

  /// The function's graphs for given input shapes, as far as types are known before anything runs: from the shapes of
  /// features through graphs and host steps.
  ///
  /// - Parameter shapes: by input name; those left out take their default.
  /// - Throws: what sources throw; `GraphError` where a host step does not take what comes to it.
  package func builtGraphs(
    shapes: [String: Shape], evaluator: any ConstantEvaluator
  ) throws -> [BuiltGraph] {
    WorkBudget.enter(.building)
    var types: [String: HostType] = [:]
    var built: [BuiltGraph] = []
    for part in parts {
      switch part {
      case .host(let step):
        let read = step.inputs.map { types[$0] ?? hostType(ofInput: $0, shapes) }
        do {
          for (slot, type) in zip(step.outputs, try step.types(read)) { types[slot] = type }
        } catch { throw GraphError(part.place, error.description) }
      case .graph(let part):
        let known = part.valued.isEmpty ? try computedTypes(of: part, types) : nil
        let own = shapes.filter { part.inputs.contains($0.key) && types[$0.key] == nil }
        let graph = try known.flatMap { try build(part, own, $0, evaluator) }
        if let graph, graph.outputs.count < part.outputs.count {
          throw GraphError(
            "graph '\(part.name)'", "has \(graph.outputs.count) outputs, expected \(part.outputs.count)")
        }
        for (index, slot) in part.outputs.enumerated() {
          types[slot] = graph.map { $0.hostType(ofOutput: index) } ?? .unknown
        }
        built.append(BuiltGraph(part: part, computed: known ?? [:], graph: graph))
      case .loop, .branch:
        for slot in part.outputs { types[slot] = .unknown }
        built += part.graphParts.map { BuiltGraph(part: $0, computed: [:], graph: nil) }
      }
    }
    return built
  }

  private func build(
    _ part: GraphPart, _ shapes: [String: Shape], _ computed: [String: TensorType], _ evaluator: any ConstantEvaluator
  ) throws -> Graph? {
    do { return try part.source.graph(shapes: shapes, computed: computed, evaluator: evaluator) } catch {
      let open = inputs.filter { part.inputs.contains($0.name) && $0.hasOpenSizes && shapes[$0.name] == nil }
      guard !open.isEmpty, !WorkBudget.isSpent else { throw error }
      if let error = error as? GraphError, error.isAboutSizes { return nil }
      for size in Self.otherSizes {
        var larger = shapes
        for feature in open { larger[feature.name] = feature.shape(openSizes: size) }
        guard larger.count == shapes.count + open.count else { break }
        do { _ = try part.source.graph(shapes: larger, computed: computed, evaluator: evaluator) } catch let other {
          if "\(other)" == "\(error)" { continue }
        }
        return nil
      }
      throw error
    }
  }

  /// Tried where a graph cannot be written for the usual sizes, such as one point for its five nearest. What fails for these
  /// alike does so whatever the sizes; where one is written, or fails otherwise, the model wants others.
  private static let otherSizes = [64, 4096]

  /// The function's only graph, for given input shapes.
  ///
  /// - Throws: as `builtGraphs`; `GraphError` where there are several graphs, or none.
  package func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    let built = try builtGraphs(shapes: shapes, evaluator: evaluator)
    guard built.count == 1, let graph = built[0].graph else {
      throw GraphError("the function", "expected one graph whose inputs are the function's, it has \(built.count)")
    }
    return graph
  }

  /// Nil where one of them depends on data.
  private func computedTypes(
    of part: GraphPart, _ types: [String: HostType]
  ) throws(GraphError) -> [String: TensorType]? {
    var computed: [String: TensorType] = [:]
    for slot in part.inputs {
      switch types[slot] {
      case nil: continue
      case .unknown: return nil
      case .tensor(let type): computed[slot] = type
      case .some(let type): throw GraphError("graph '\(part.name)'", "reads '\(slot)', which is \(type), not a tensor")
      }
    }
    return computed
  }

  /// The kind of value that an input has for host steps.
  private func hostType(ofInput name: String, _ shapes: [String: Shape]) -> HostType {
    guard let feature = inputs.first(where: { $0.name == name }) else { return .unknown }
    switch feature.type {
    case .int64: return .tensor(TensorType(.int64, [1]))
    case .double: return .tensor(TensorType(.float64, [1]))
    case .string: return .texts([1])
    case .dictionary(let keys): return .dictionary(isByText: keys == .string)
    case .tensor(let scalar, let dimensions):
      return (shapes[name] ?? dimensions.standardShape).map { .tensor(TensorType(scalar, $0)) } ?? .unknown
    case .texts(let dimensions):
      return (shapes[name] ?? dimensions.standardShape).map { .texts($0) } ?? .unknown
    case .dictionaries: return .sequence
    case .tensors, .sequence, .image, .state: return .unknown
    }
  }
}

extension Feature {
  /// The shape with one size for all that are open, as far as they take it; nil where one has no usual size, and for
  /// what is no tensor.
  fileprivate func shape(openSizes size: Int) -> Shape? {
    guard case .tensor(_, let dimensions) = type, dimensions.standardShape != nil else { return nil }
    let sizes = dimensions.compactMap { dimension in
      guard case .flexible(_, let range, _) = dimension else { return dimension.standard }
      return min(max(size, range.lowerBound), range.upperBound)
    }
    return Shape(sizes)
  }
}

extension Graph {
  /// An output with an extent is as large as a run finds.
  fileprivate func hostType(ofOutput index: Int) -> HostType {
    extents.contains { $0.output == index } ? .unknown : .tensor(self[outputs[index]].type)
  }
}

extension [Dimension] {
  /// The shape taken when nothing is said; nil where a size has no standard.
  fileprivate var standardShape: Shape? {
    let sizes = compactMap(\.standard)
    return sizes.count == count && Shape(sizes).isAddressable ? Shape(sizes) : nil
  }
}

extension Dimension {
  /// The size taken when nothing is said; nil where there is none.
  package var standard: Int? {
    switch self {
    case .fixed(let size): size
    case .flexible(_, _, let standard): standard
    }
  }
}
