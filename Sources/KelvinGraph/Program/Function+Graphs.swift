import KelvinBasics

extension Function {
  /// A graph part, and its graph if its inputs are known.
  package struct BuiltGraph: Sendable {
    package let part: GraphPart
    /// The types of the inputs that earlier parts compute.
    package let computed: [String: TensorType]
    /// Nil if the graph depends on data: on the type or the elements of an input, on the iteration of a loop, or on the
    /// side of a branch. Also nil if the default sizes of inputs are not valid.
    package let graph: Graph?
  }

  /// Returns the function's graphs for given input shapes, as far as types are known before execution: shapes propagate
  /// from features through graphs and host operations. The host executes control flow with dynamic shapes.
  ///
  /// - Parameter shapes: The shapes by input name; omitted inputs have their defaults.
  /// - Throws: Errors of sources; `GraphError` if a host operation does not support its inputs.
  package func builtGraphs(
    shapes: [String: Shape], evaluator: any ConstantEvaluator
  ) throws -> [BuiltGraph] {
    try settled { try $0.evenGraphs(shapes: shapes, evaluator: evaluator) }
  }

  /// Returns the same graphs as `builtGraphs`, for the function without changes to its control flow.
  ///
  /// - Throws: The errors of `builtGraphs`, and `DynamicShapeControlFlow`.
  package func evenGraphs(
    shapes: [String: Shape], evaluator: any ConstantEvaluator
  ) throws -> [BuiltGraph] {
    WorkBudget.enter(.building)
    let features = Dictionary(inputs.map { ($0.name, $0) }) { first, _ in first }
    var kinds: [String: SlotKind] = [:]
    func kind(_ slot: String) -> SlotKind { kinds[slot] ?? SlotKind(features[slot], shapes[slot]) }
    var built: [BuiltGraph] = []
    for part in parts {
      switch part {
      case .host(let step):
        for (slot, kind) in zip(step.outputs, try Self.results(of: step, part.place, step.inputs.map(kind))) {
          kinds[slot] = kind
        }
      case .graph(let part):
        let read = Dictionary(part.inputs.map { ($0, kind($0)) }) { first, _ in first }
        let computed = read.filter { kinds[$0.key] != nil }
        let known = part.valueDependent.isEmpty ? try computedTypes(of: part, computed.mapValues(\.usual)) : nil
        let own = shapes.filter { part.inputs.contains($0.key) && kinds[$0.key] == nil }
        let graph = try known.flatMap { try build(part, own, $0, read, computed, evaluator) }
        if let graph, graph.outputs.count < part.outputs.count {
          throw GraphError(
            "graph '\(part.name)'", "has \(graph.outputs.count) outputs, expected \(part.outputs.count)")
        }
        let isOpen = read.values.contains(where: \.isOpen)
        for (index, slot) in part.outputs.enumerated() {
          kinds[slot] = SlotKind(graph?.hostType(ofOutput: index) ?? .unknown, isOpen: isOpen)
        }
        built.append(BuiltGraph(part: part, computed: known ?? [:], graph: graph))
      case .loop, .branch:
        for slot in part.outputs { kinds[slot] = SlotKind(.unknown, isOpen: true) }
        built += part.graphParts.map { BuiltGraph(part: $0, computed: [:], graph: nil) }
      }
    }
    return built
  }

  /// Returns the kinds of a host operation's results; unknown if it does not support the default sizes of open inputs.
  private static func results(
    of step: any HostOperation, _ place: String, _ read: [SlotKind]
  ) throws(GraphError) -> [SlotKind] {
    let isOpen = read.contains(where: \.isOpen)
    let others = otherSizes.indices.map { size in
      isOpen ? Result { () throws(HostOperationError) in try step.types(read.map { $0.others[size] }) } : nil
    }
    let usual: [HostType]
    do { usual = try step.types(read.map(\.usual)) } catch {
      let isAlways = others.allSatisfy { other in
        guard case .failure(let other)? = other else { return other == nil }
        return other == error
      }
      guard !isAlways else { throw GraphError(place, error.description) }
      usual = step.outputs.map { _ in .unknown }
    }
    return usual.enumerated().map { index, type in
      guard isOpen else { return SlotKind(type, isOpen: false) }
      return SlotKind(usual: type, others: others.map { (try? $0?.get())?[index] ?? .unknown }, isOpen: true)
    }
  }

  /// Builds the graph of a part.
  ///
  /// - Parameters:
  ///   - read: The kinds of all inputs.
  ///   - computed: The kinds of the inputs that earlier parts write.
  private func build(
    _ part: GraphPart, _ shapes: [String: Shape], _ types: [String: TensorType], _ read: [String: SlotKind],
    _ computed: [String: SlotKind], _ evaluator: any ConstantEvaluator
  ) throws -> Graph? {
    do { return try part.source.graph(shapes: shapes, computed: types, evaluator: evaluator) } catch {
      guard read.values.contains(where: \.isOpen), !WorkBudget.isSpent else { throw error }
      if let error = error as? GraphError, error.isAboutSizes { return nil }
      let open = inputs.filter { read[$0.name]?.isOpen == true && computed[$0.name] == nil }
      for (index, size) in Self.otherSizes.enumerated() {
        var larger = shapes
        for feature in open { larger[feature.name] = feature.shape(openSizes: size) }
        guard larger.count == shapes.count + open.count else { break }
        var others: [String: TensorType] = [:]
        for (slot, kind) in computed {
          guard case .tensor(let type) = kind.others[index] else { return nil }
          others[slot] = type
        }
        do { _ = try part.source.graph(shapes: larger, computed: others, evaluator: evaluator) } catch let other {
          if "\(other)" == "\(error)" { continue }
          // The message contains the sizes, so that the names are compared.
          if let flow = error as? DynamicShapeControlFlow, (other as? DynamicShapeControlFlow)?.name == flow.name {
            continue
          }
        }
        return nil
      }
      throw error
    }
  }

  /// Sizes that are tried if a graph cannot be built for the default sizes (one point for its five nearest, for
  /// example), or if a host operation does not support them. If all sizes fail with the same error, it does not depend
  /// on sizes. Otherwise the model needs sizes other than the default ones.
  fileprivate static let otherSizes = [64, 4096]

  /// Returns the function's only graph, for given input shapes.
  ///
  /// - Throws: The errors of `builtGraphs`; `GraphError` unless there is exactly one graph.
  package func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    let built = try builtGraphs(shapes: shapes, evaluator: evaluator)
    guard built.count == 1, let graph = built[0].graph else {
      throw GraphError("the function", "expected one graph whose inputs are the function's, it has \(built.count)")
    }
    return graph
  }

  /// Returns the types of a part's computed inputs; nil if one of them depends on data.
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
}

/// The kind of a slot's value before execution.
private struct SlotKind {
  /// The type at the default sizes.
  let usual: HostType
  /// The type at each of `Function.otherSizes`.
  let others: [HostType]
  /// Whether the value depends on inputs with open sizes that are not given.
  let isOpen: Bool

  init(usual: HostType, others: [HostType], isOpen: Bool) {
    (self.usual, self.others, self.isOpen) = (usual, others, isOpen)
  }

  /// Creates a kind that is the same at all sizes, or unknown at other sizes.
  init(_ type: HostType, isOpen: Bool) {
    self.init(usual: type, others: Function.otherSizes.map { _ in isOpen ? .unknown : type }, isOpen: isOpen)
  }

  /// Creates the kind of an input for host operations.
  ///
  /// - Parameters:
  ///   - feature: The feature; nil for a slot that is not an input.
  ///   - shape: The given shape, if any.
  init(_ feature: Feature?, _ shape: Shape?) {
    guard let feature else {
      self.init(.unknown, isOpen: false)
      return
    }
    self.init(
      usual: feature.hostType(shape),
      others: Function.otherSizes.map { size in
        guard shape == nil, let other = feature.shape(openSizes: size) else { return feature.hostType(shape) }
        return other.isAddressable ? feature.hostType(other) : .unknown
      },
      isOpen: feature.hasOpenSizes && shape == nil)
  }
}

extension Feature {
  /// Returns the kind of value for host operations.
  ///
  /// - Parameter shape: The shape; nil for the default one.
  fileprivate func hostType(_ shape: Shape?) -> HostType {
    switch type {
    case .int64: return .tensor(TensorType(.int64, [1]))
    case .double: return .tensor(TensorType(.float64, [1]))
    case .string: return .strings([1])
    case .dictionary(let keys): return .dictionary(isByString: keys == .string)
    case .tensor where takesAnyShape && shape == nil: return .unknown
    case .tensor(let scalar, let dimensions):
      return (shape ?? dimensions.standardShape).map { .tensor(TensorType(scalar, $0)) } ?? .unknown
    case .strings(let dimensions): return (shape ?? dimensions.standardShape).map { .strings($0) } ?? .unknown
    case .dictionaries: return .sequence
    case .tensors, .sequence, .image, .state: return .unknown
    }
  }

  /// Returns the shape with the given size for all open sizes, within their ranges; nil if a size has no default, and
  /// for values that are neither tensors nor strings.
  fileprivate func shape(openSizes size: Int) -> Shape? {
    let dimensions: [Dimension]
    switch type {
    case .tensor(_, let own), .strings(let own): dimensions = own
    default: return nil
    }
    guard dimensions.standardShape != nil, !takesAnyShape else { return nil }
    let sizes = dimensions.compactMap { dimension in
      guard case .flexible(_, let range, _) = dimension else { return dimension.standard }
      return min(max(size, range.lowerBound), range.upperBound)
    }
    return Shape(sizes)
  }
}

extension Graph {
  /// Returns the type of an output, unknown if it has an extent.
  fileprivate func hostType(ofOutput index: Int) -> HostType {
    extents.contains { $0.output == index } ? .unknown : .tensor(self[outputs[index]].type)
  }
}

extension [Dimension] {
  /// The default shape; nil if a size has no default.
  fileprivate var standardShape: Shape? {
    let sizes = compactMap(\.standard)
    return sizes.count == count && Shape(sizes).isAddressable ? Shape(sizes) : nil
  }
}

extension Dimension {
  /// The default size; nil if there is none.
  package var standard: Int? {
    switch self {
    case .fixed(let size): size
    case .flexible(_, _, let standard): standard
    }
  }
}
