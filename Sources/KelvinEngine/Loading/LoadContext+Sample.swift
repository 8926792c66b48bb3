import KelvinBasics
import KelvinDevices
import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// A sample run determines data-dependent sizes: it executes a function's graphs on the host, each built for the sizes
/// that earlier graphs produced.
extension LoadContext {
  /// Runs a function on the options' sample; does nothing without a sample.
  ///
  /// - Parameter known: the graphs by part; nil for those whose sizes depend on data.
  /// - Returns: the graphs, nil for those that the run did not reach, and remarks for the user.
  /// - Throws: the errors of running if all inputs were given. With synthetic inputs a run may fail: then the graphs
  ///   that it did not reach are left out, and a remark gives the reason.
  func sampled(
    _ known: [LoadedGraph?], of function: Function
  ) throws -> (graphs: [LoadedGraph?], remarks: [String]) {
    guard let sample = options.sample else { return (known, []) }
    var found = (graphs: known, remarks: [String]())
    guard let last = known.lastIndex(where: { $0 == nil }) else { return found }
    let made = try madeUp(function, known.compactMap { $0?.context.graph }, sample.seed)
    let executor = FunctionExecutor(function)
    let given = try executor.binding.values(sample.values)
    let values = DictionaryFeatureProvider(
      dictionary: given.dictionary.merging(made) { given, _ in given })
    let inputs = made.keys.filter { given.dictionary[$0] == nil }.sorted()
    let basis =
      inputs.isEmpty
      ? "the inputs given" : "\(inputs.map { "'\($0)'" }.joined(separator: ", ")) made up (seed \(sample.seed))"
    let parts = function.graphParts
    do {
      try executor.visit(values) { index, types, read in
        var graph =
          try known[index].flatMap { types.fit($0.context.graph) ? $0 : nil } ?? built(parts[index], for: types)
        if known[index] == nil, found.graphs[index] == nil {
          graph.sample = try read(graph.context.graph)
          found.graphs[index] = graph
        }
        return index == last ? nil : try hosted(graph)
      }
    } catch  where !inputs.isEmpty && !(error is DynamicShapeControlFlow) {
      found.remarks.append("a sample run with \(basis) failed: \(error)")
    }
    let loops = function.loopsAroundGraphs
    for (index, part) in parts.enumerated() where known[index] == nil {
      let iterations = loops[part.name]
        .map { ", in the first iteration of the loop '\($0.name)'; times are for one iteration" }
      found.remarks.append(
        found.graphs[index] == nil
          ? "the sizes of the graph '\(part.name)' depend on data, and no sample run reached it: it is left out "
            + "(--input gives a run its inputs)"
          : "the sizes of the graph '\(part.name)' depend on data; they are those of a sample run with \(basis)"
            + (iterations ?? ""))
    }
    return found
  }

  /// Returns synthetic values for the features that a run needs, as far as their shapes are known.
  ///
  /// - Throws: `device` if the host has not enough memory for them.
  func madeUp(_ function: Function, _ graphs: [Graph], _ seed: UInt64) throws -> [String: FeatureValue] {
    var values: [String: FeatureValue] = [:]
    for graph in graphs {
      for (id, tensor) in zip(graph.inputs, try madeUpInputs(for: graph, features: function.inputs, seed: seed)) {
        values[graph[id].name] = FeatureValue(multiArray: MultiArray(tensor))
      }
    }
    let required = function.inputs.filter(\.isRequired)
    for feature in required where values[feature.name] == nil {
      values[feature.name] = try madeUp(feature, seed)
    }
    return values.filter { name, _ in required.contains { $0.name == name } }
  }

  /// Returns a synthetic value for a feature that no known graph reads; nil if its shape is not known.
  private func madeUp(_ feature: Feature, _ seed: UInt64) throws -> FeatureValue? {
    func shape(_ dimensions: [Dimension]) -> Shape? {
      let standard = Shape(dimensions.compactMap(\.standard))
      let known = standard.rank == dimensions.count && !feature.takesAnyShape ? standard : nil
      return options.shapes[feature.name] ?? known
    }
    func array(_ type: TensorType, _ make: () -> Tensor) throws -> FeatureValue {
      try HostMemory.check([type], "made-up inputs")
      return FeatureValue(multiArray: MultiArray(make()))
    }
    switch feature.type {
    case .tensor(let scalar, let dimensions):
      // The value 1 is valid for most inputs that determine sizes.
      return try shape(dimensions).map { TensorType(scalar, $0) }.map { type in
        try array(type) { Tensor(type) { _ in 1 } }
      }
    case .image(let image):
      var random = SeededGenerator(seed: seed)
      let type = TensorType(image.scalar, options.shapes[feature.name] ?? image.tensorShape)
      return try array(type) { .random(image, type, &random) }
    case .int64: return FeatureValue(int64: 1)
    case .double: return FeatureValue(double: 1)
    case .string: return FeatureValue(string: "")
    case .strings(let dimensions):
      guard let shape = shape(dimensions), shape.count <= 1 << 24 else { return nil }
      let strings = [String](repeating: "", count: shape.count)
      return FeatureValue(sequence: FeatureSequence(strings: strings, shape: shape.dimensions))
    case .dictionary: return FeatureValue(dictionary: [:])
    case .sequence(of: .string): return FeatureValue(sequence: FeatureSequence(strings: [""]))
    case .sequence(of: .int64): return FeatureValue(sequence: FeatureSequence(int64s: [1]))
    case .dictionaries, .tensors, .state: return nil
    }
  }
}

extension Feature {
  /// Whether a prediction needs a value from the caller.
  package var isRequired: Bool {
    if case .state = type { return false }
    return !isOptional && defaultValue == nil
  }
}
