import KelvinBasics
import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
import KelvinRuntime

/// A function's parts with the destinations of their results. Features are the inputs, the parts execute in order,
/// and features are the outputs.
package struct FunctionExecutor: Sendable {
  /// The destination of an output of a part.
  struct Place {
    let index: Int
    let slot: String
    /// The function output that it is; nil for an intermediate value.
    let feature: Feature?
    /// Whether a later part reads it.
    let isRead: Bool
  }

  /// A part of a function.
  struct Step {
    let part: FunctionPart
    /// The destinations of its outputs.
    let places: [Place]
    /// The slots of its list that no later part reads, which are released after it has run.
    let done: [String]
    /// The number of graphs before it.
    let graph: Int
    /// The body of a loop, or both sides of a branch.
    let inner: [[Step]]
  }

  /// The state of an execution.
  struct State {
    /// The function's inputs.
    let values: DictionaryFeatureProvider
    let shapes: [String: Shape]
    var slots: [String: HostValue] = [:]
    var features: [String: FeatureValue] = [:]
  }

  package let binding: FeatureBinding
  private let steps: [Step]
  /// The function's outputs that a graph computes.
  private let backed: Set<String>

  package init(_ function: Function) {
    binding = FeatureBinding(function: function)
    var graphs = 0
    steps = Self.steps(function.parts, function.outputs, read: [], &graphs)
    backed = steps.reduce(into: []) { backed, step in
      if case .graph = step.part { backed.formUnion(step.places.compactMap(\.feature?.name)) }
    }
  }

  /// - Parameters:
  ///   - outputs: the function's outputs; empty in the body of a loop or a side of a branch.
  ///   - left: the slots that are read after all parts have run.
  ///   - graphs: the number of graphs before these parts.
  private static func steps(
    _ parts: [FunctionPart], _ outputs: [Feature], read left: Set<String>, _ graphs: inout Int
  ) -> [Step] {
    let features = Dictionary(outputs.map { ($0.name, $0) }) { first, _ in first }
    let written = Set(parts.flatMap(\.outputs))
    var read = left
    var rewritten: Set<String> = []
    var ends: [(places: [Place], done: [String])] = []
    for part in parts.reversed() {
      let places = part.outputs.enumerated().map { index, slot in
        Place(
          index: index, slot: slot, feature: rewritten.contains(slot) ? nil : features[slot],
          isRead: read.contains(slot))
      }
      ends.append((places, Set(part.inputs).filter { written.contains($0) && !read.contains($0) }.sorted()))
      read.formUnion(part.inputs)
      rewritten.formUnion(part.outputs)
    }
    return zip(parts, ends.reversed()).map { part, end in
      let graph = graphs
      var inner: [[Step]] = []
      switch part {
      case .host: break
      case .graph: graphs += 1
      case .loop(let loop): inner = [steps(loop.body, [], read: loop.left, &graphs)]
      case .branch(let branch):
        inner = branch.sides.map { steps($0.parts, [], read: Set($0.left), &graphs) }
      }
      return Step(part: part, places: end.places, done: end.done, graph: graph, inner: inner)
    }
  }

  /// The result of an execution.
  package struct Result: Sendable, TimedResult {
    package var features: DictionaryFeatureProvider
    /// The seconds that the graphs took.
    package var seconds: Double
  }

  /// Executes the function once.
  ///
  /// - Parameters:
  ///   - values: the result of `FeatureBinding.values(_:)`.
  ///   - backings: the caller's memory for outputs.
  ///   - states: the sizes of states that the model leaves open.
  ///   - compiled: returns the specialization of a graph for its inputs' types.
  ///   - withSession: calls its last argument with a session of a graph's specialization, which may use the given
  ///     memory of the caller.
  /// - Throws: `ModelError` naming a missing or unfit input, or an unfit backing; the error of a host operation; the
  ///   errors of `compiled`, of `withSession` and of running.
  func run(
    _ values: DictionaryFeatureProvider, backings: [String: OutputBacking] = [:],
    states: [String: Shape] = [:], _ cancellation: Cancellation? = nil,
    compiled: (_ graph: Int, _ types: SlotTypes) throws -> CompiledModel,
    withSession: (_ graph: Int, CompiledModel, CallerMemory, (Session) throws -> Void) throws -> Void
  ) throws -> Result {
    var state = State(values: values, shapes: try binding.shapes(values).merging(states) { own, _ in own })
    try checkBackings(backings)
    var seconds = 0.0
    try run(steps, &state, cancellation) { index, part, places, state in
      let model = try compiled(index, types(part, state))
      let backings = try OutputBackings(backings, places, model.graph)
      let memory = CallerMemory(
        inputs: binding.borrowable(values, besides: state.slots, model.graph), outputs: backings.buffers)
      try withSession(index, model, memory) { session in
        try binding.write(values, state.slots, to: session)
        let began = ContinuousClock.now
        try session.run(cancellation)
        seconds += (ContinuousClock.now - began).inSeconds
        for place in places {
          let backed = place.feature.flatMap { _ in backings.read(place, session) }
          if let backed { state.features[place.slot] = backed }
          let feature = backed == nil ? place.feature : nil
          guard place.isRead || feature != nil else { continue }
          let tensor = try session.output(place.index)
          if place.isRead { state.slots[place.slot] = .tensor(tensor) }
          if let feature { state.features[place.slot] = try binding.value(tensor, feature) }
        }
      }
      return true
    }
    return Result(features: DictionaryFeatureProvider(dictionary: state.features), seconds: seconds)
  }

  /// Executes a function with one graph, which the caller runs.
  ///
  /// - Parameters:
  ///   - values: the result of `FeatureBinding.values(_:)`.
  ///   - graph: the graph, built for the types of these values.
  ///   - predict: returns the graph's outputs. Its argument makes the inputs, in the order of the graph.
  /// - Throws: the errors of `run` and of `predict`.
  func run(
    _ values: DictionaryFeatureProvider, of graph: Graph,
    _ predict: (_ inputs: () throws -> [Tensor]) throws -> GraphOutputs
  ) throws -> Result {
    var state = State(values: values, shapes: try binding.shapes(values))
    var seconds = 0.0
    try run(steps, &state, nil) { _, _, places, state in
      let slots = state.slots
      let result = try predict { try inputs(of: graph, values, slots) }
      seconds = result.seconds
      try keep(result.outputs.map(HostValue.tensor), places, &state)
      return true
    }
    return Result(features: DictionaryFeatureProvider(dictionary: state.features), seconds: seconds)
  }

  /// Executes the parts in order and passes each graph to `visit` before it runs.
  ///
  /// - Parameter visit: receives a graph's index and the types of its inputs, once per iteration inside a loop.
  ///   `inputs` returns their tensors in the order of a graph built for these types. The result is the compiled graph;
  ///   nil ends the execution.
  /// - Throws: the errors of `run` and of `visit`.
  func visit(
    _ values: DictionaryFeatureProvider,
    _ visit: (_ graph: Int, _ types: SlotTypes, _ inputs: (Graph) throws -> [Tensor]) throws -> CompiledModel?
  ) throws {
    var state = State(values: values, shapes: try binding.shapes(values))
    try run(steps, &state, nil) { index, part, places, state in
      let model = try visit(index, types(part, state)) { try inputs(of: $0, state.values, state.slots) }
      guard let session = try model?.makeSession() else { return false }
      try binding.write(values, state.slots, to: session)
      try session.run()
      for place in places where place.isRead { state.slots[place.slot] = .tensor(try session.output(place.index)) }
      return true
    }
  }

  /// Executes steps in order.
  ///
  /// - Parameter runGraph: returns whether to continue.
  /// - Returns: whether all steps have run.
  @discardableResult
  func run(
    _ steps: [Step], _ state: inout State, _ cancellation: Cancellation?,
    _ runGraph: (_ graph: Int, GraphPart, [Place], inout State) throws -> Bool
  ) throws -> Bool {
    for step in steps {
      switch step.part {
      case .host(let operation): try run(operation, step.places, &state)
      case .graph(let part):
        guard try runGraph(step.graph, part, step.places, &state) else { return false }
      case .loop(let loop):
        var iterations = try LoopIterations(loop) { try value(of: $0, state) }
        var inside = State(values: state.values, shapes: state.shapes, slots: state.slots)
        while iterations.begin(in: &inside.slots) {
          do {
            try cancellation?.check()
            guard try run(step.inner[0], &inside, cancellation, runGraph) else { return false }
          } catch { throw iterations.placed(error) }
          try iterations.end { try value(of: $0, inside) }
        }
        try keep(iterations.results(), step.places, &state)
      case .branch(let branch):
        let condition = try value(of: branch.condition, state)
          .number(of: branch.condition, "branch '\(branch.name)'", saying: "which branch runs")
        let isThen = condition.doubles[0] != 0
        var inside = State(values: state.values, shapes: state.shapes, slots: state.slots)
        guard try run(step.inner[isThen ? 0 : 1], &inside, cancellation, runGraph) else { return false }
        try keep((isThen ? branch.then : branch.otherwise).left.map { try value(of: $0, inside) }, step.places, &state)
      }
      for slot in step.done { state.slots[slot] = nil }
    }
    return true
  }

  private func value(of slot: String, _ state: State) throws -> HostValue {
    try state.slots[slot] ?? binding.hostValue(slot, state.values)
  }

  /// Stores the results of a step at their destinations.
  private func keep(_ written: [HostValue], _ places: [Place], _ state: inout State) throws {
    for (place, value) in zip(places, written) {
      if place.isRead { state.slots[place.slot] = value }
      if let feature = place.feature { state.features[place.slot] = try binding.value(value, feature) }
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

  /// Returns the types and values that a graph is specialized for.
  private func types(_ part: GraphPart, _ state: State) throws -> SlotTypes {
    var types = SlotTypes(shapes: state.shapes)
    if steps.count == 1, case .graph = steps[0].part, part.valueDependent.isEmpty { return types }
    types.shapes = state.shapes.filter {
      part.inputs.contains($0.key) && state.slots[$0.key] == nil && !part.valueDependent.contains($0.key)
    }
    for slot in part.inputs {
      if part.valueDependent.contains(slot) {
        guard case .tensor(let tensor) = try value(of: slot, state) else {
          throw ModelError(.featureType, "input '\(slot)': sizes depend on it, expected an array")
        }
        types.values[slot] = tensor
      } else if case .tensor(let tensor)? = state.slots[slot] {
        types.computed[slot] = tensor.type
      }
    }
    return types
  }

  private func run(_ step: any HostOperation, _ places: [Place], _ state: inout State) throws {
    var read: [HostValue] = []
    for slot in step.inputs { read.append(try value(of: slot, state)) }
    try keep(try step.run(read), places, &state)
  }

  /// - Throws: `featureType` for a backing of an output that is not a tensor computed by a graph.
  private func checkBackings(_ given: [String: OutputBacking]) throws(ModelError) {
    for name in given.keys.sorted() {
      guard let declared = binding.function.outputs.first(where: { $0.isNamed(name) }), !backed.contains(declared.name)
      else { continue }
      throw ModelError(
        .featureType, "output '\(name)' is \(FeatureDescription(declared).type.rawValue), which cannot have a backing")
    }
  }
}

/// A result with the seconds that its graphs took.
protocol TimedResult {
  var seconds: Double { get }
}

/// The outputs of a graph.
struct GraphOutputs: Sendable {
  let outputs: [Tensor]
  let seconds: Double
}

extension Session {
  /// Returns a copy of an output of the latest run, in its data-dependent size.
  ///
  /// - Throws: `execution` if the element count exceeds the reserved memory.
  fileprivate func output(_ index: Int) throws(RuntimeError) -> Tensor {
    let graph = model.graph
    do throws(GraphError) {
      return try graph.exactOutput(index) { position, part in
        let type = graph[graph.outputs[position]].type
        return withOutput(position) { elements in
          part.map { Tensor(copying: $0, of: elements, type) } ?? Tensor(type, Bytes(copying: elements))
        }
      }
    } catch {
      throw .device(DeviceError(.execution, device: model.host, place: error.place, reason: error.reason))
    }
  }
}
