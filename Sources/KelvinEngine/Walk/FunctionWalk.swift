import KelvinBasics
import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
import KelvinRuntime

/// A function's parts, and where what they compute goes: features in, the parts in their order, features out.
package struct FunctionWalk: Sendable {
  /// Where an output of a part goes.
  struct Place {
    let index: Int
    let slot: String
    /// The output of the function that it is.
    let feature: Feature?
    /// Whether a later part reads it.
    let isRead: Bool
  }

  private enum Step {
    case host(any HostStep, [Place])
    /// `index` counts graphs.
    case graph(index: Int, GraphPart, [Place])
  }

  package let binding: FeatureBinding
  private let steps: [Step]

  package init(_ function: Function) {
    binding = FeatureBinding(function: function)
    var graphs = 0
    steps = function.parts.enumerated().map { position, part in
      let later = function.parts[(position + 1)...]
      let places = part.outputs.enumerated().map { index, slot in
        Place(
          index: index, slot: slot,
          feature: later.contains { $0.outputs.contains(slot) } ? nil : function.outputs.first { $0.name == slot },
          isRead: later.contains { $0.inputs.contains(slot) })
      }
      switch part {
      case .host(let step): return .host(step, places)
      case .graph(let graph):
        graphs += 1
        return .graph(index: graphs - 1, graph, places)
      }
    }
  }

  /// What a walk leaves.
  package struct Result: Sendable {
    package var features: DictionaryFeatureProvider
    /// How long the graphs took.
    package var seconds: Double
  }

  /// Runs the function once.
  ///
  /// - Parameters:
  ///   - values: as `FeatureBinding.values` gives them.
  ///   - backings: callers' memory for outputs.
  ///   - lender: finds or makes the compiled form of a graph for its inputs' types.
  /// - Throws: `ModelError` naming the input that is missing or does not fit, a backing that does not fit, or the host
  ///   step that cannot take a value; what the lender and running throw.
  func run(
    _ values: DictionaryFeatureProvider, backings: [String: OutputBacking] = [:], _ cancellation: Cancellation? = nil,
    lender: (_ graph: Int, _ types: SlotTypes) throws -> any SessionLender
  ) throws -> Result {
    let shapes = try binding.shapes(values)
    try checkBackings(backings)
    var slots: [String: HostValue] = [:]
    var features: [String: FeatureValue] = [:]
    var seconds = 0.0
    for step in steps {
      switch step {
      case .host(let step, let places): try run(step, places, values, &slots, &features)
      case .graph(let index, let part, let places):
        let lender = try lender(index, types(part, shapes, values, slots))
        let graph = lender.model.graph
        let backings = try OutputBackings(backings, places, graph)
        try lender.withSession(backings.memory, cancellation) { session in
          try binding.write(values, slots, to: session)
          let began = ContinuousClock.now
          try session.run(cancellation)
          seconds += (ContinuousClock.now - began).inSeconds
          for place in places {
            let backed = place.feature.flatMap { _ in backings.read(place, session) }
            if let backed { features[place.slot] = backed }
            let feature = backed == nil ? place.feature : nil
            guard place.isRead || feature != nil else { continue }
            let tensor = try session.output(place.index)
            if place.isRead { slots[place.slot] = .tensor(tensor) }
            if let feature { features[place.slot] = try binding.value(tensor, feature) }
          }
        }
      }
    }
    return Result(features: DictionaryFeatureProvider(dictionary: features), seconds: seconds)
  }

  /// Runs the parts in their order, each on what the ones before it left, for whoever looks at graphs on the way.
  ///
  /// - Parameter visit: comes to a graph, whose inputs have these types; `inputs` gives their tensors, in the order of a
  ///   graph that was built for them. It answers with what runs the graph, or nil to end here.
  /// - Throws: as `run`; what `visit` throws.
  func visit(
    _ values: DictionaryFeatureProvider,
    _ visit: (_ graph: Int, _ types: SlotTypes, _ inputs: (Graph) throws -> [Tensor]) throws -> (any SessionLender)?
  ) throws {
    let shapes = try binding.shapes(values)
    var slots: [String: HostValue] = [:]
    var features: [String: FeatureValue] = [:]
    for step in steps {
      switch step {
      case .host(let step, let places): try run(step, places, values, &slots, &features)
      case .graph(let index, let part, let places):
        let lender = try visit(index, types(part, shapes, values, slots)) { try inputs(of: $0, values, slots) }
        guard let lender else { return }
        try lender.withSession(OutputMemory(), nil) { session in
          try binding.write(values, slots, to: session)
          try session.run()
          for place in places where place.isRead { slots[place.slot] = .tensor(try session.output(place.index)) }
        }
      }
    }
  }

  private func inputs(
    of graph: Graph, _ values: DictionaryFeatureProvider, _ slots: [String: HostValue]
  ) throws -> [Tensor] {
    try graph.inputs.map { id in
      let (name, type) = (graph[id].name, graph[id].type)
      let bytes = try Bytes(count: type.byteCount) { (memory) throws(ModelError) in
        try binding.write(name, type, values, slots, to: memory)
      }
      return Tensor(type, bytes)
    }
  }

  /// What a graph reads that is not the same at every prediction, as far as it is built for it.
  private func types(
    _ part: GraphPart, _ shapes: [String: Shape], _ values: DictionaryFeatureProvider, _ slots: [String: HostValue]
  ) throws -> SlotTypes {
    var types = SlotTypes(shapes: shapes)
    guard steps.count > 1 || !part.valued.isEmpty else { return types }
    types.shapes = shapes.filter {
      part.inputs.contains($0.key) && slots[$0.key] == nil && !part.valued.contains($0.key)
    }
    for slot in part.inputs {
      if part.valued.contains(slot) {
        guard case .tensor(let tensor) = try slots[slot] ?? binding.hostValue(slot, values) else {
          throw ModelError(.featureType, "input '\(slot)': sizes depend on it, expected an array")
        }
        types.values[slot] = tensor
      } else if case .tensor(let tensor)? = slots[slot] {
        types.computed[slot] = tensor.type
      }
    }
    return types
  }

  private func run(
    _ step: any HostStep, _ places: [Place], _ values: DictionaryFeatureProvider, _ slots: inout [String: HostValue],
    _ features: inout [String: FeatureValue]
  ) throws {
    var read: [HostValue] = []
    for slot in step.inputs { read.append(try slots[slot] ?? binding.hostValue(slot, values)) }
    let written = try step.run(read)
    for (place, value) in zip(places, written) {
      slots[place.slot] = value
      if let feature = place.feature { features[place.slot] = try binding.value(value, feature) }
    }
  }

  /// - Throws: `featureType` for a backing of an output that no graph computes as a tensor.
  private func checkBackings(_ given: [String: OutputBacking]) throws(ModelError) {
    guard !given.isEmpty else { return }
    var backed: Set<String> = []
    for case .graph(_, _, let places) in steps { backed.formUnion(places.compactMap(\.feature?.name)) }
    for name in given.keys.sorted() where !backed.contains(name) {
      guard let declared = binding.function.outputs.first(where: { $0.name == name }) else { continue }
      throw ModelError(
        .featureType, "output '\(name)' is \(FeatureDescription(declared).type.rawValue), which no memory backs")
    }
  }
}

extension Session {
  /// A copy of an output of the latest run, as large as the run found it.
  ///
  /// - Throws: `execution` for a count of elements that its room does not have.
  fileprivate func output(_ index: Int) throws(RuntimeError) -> Tensor {
    let graph = model.graph
    do throws(GraphError) {
      return try graph.exactOutput(index) { position in
        Tensor(graph[graph.outputs[position]].type, withOutput(position) { Bytes(copying: $0) })
      }
    } catch {
      throw .device(DeviceError(.execution, device: model.host, place: error.place, reason: error.reason))
    }
  }
}
