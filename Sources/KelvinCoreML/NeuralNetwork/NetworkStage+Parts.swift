import KelvinGraph
import KelvinImport

extension NetworkStage: SplittableStage {
  private func tensors(at place: Int) -> NetworkTensors {
    let there = layers.reduce(into: Set(inputs.map(\.name))) { $0.formUnion($1.staged.outputs) }
    let left = outputs.map(\.name).filter(there.contains)
    var tensors = NetworkTensors("#\(place)", inputs: inputs.map(\.name))
    tensors.add(layers, readLater: Set(left + [probabilities].compactMap { $0 }))
    for name in left { tensors.leave(name, as: name) }
    if let probabilities { tensors.leave(probabilities, as: StageSlot.scores) }
    return tensors
  }

  func operations(at place: Int) -> [StagedOperation] { tensors(at: place).operations }

  func part(_ operations: [Int], of stage: SizeStage, at place: Int) -> (any ModelStage)? {
    let items = tensors(at: place).items
    return part(operations.map { items[$0] }, of: stage)
  }

  func hostParts(
    _ operation: Int, known: [Int], of stage: SizeStage, at place: Int, name: String,
    graph: (String, StageGroup) -> FunctionPart
  ) -> [FunctionPart]? {
    let items = tensors(at: place).items
    var inside = self
    inside.isNested = true
    return inside.hostParts(items[operation], known: known.map { items[$0] }, of: stage, name, graph)
  }

  private func part(_ items: [NetworkItem], of stage: SizeStage) -> NetworkStage? {
    let features = inputs.map(\.name)
    guard items.canRun(entering: stage.inputs, leaving: stage.outputs) else { return nil }
    var part = self
    (part.layers, part.leaving) = ([], [])
    var written: Set<String> = []
    for item in items {
      switch item.content {
      case .layer(let layer, _): part.layers.append(layer)
      case .left(let left): part.leaving.append(left)
      case .output: written.formUnion(item.operation.outputs)
      }
    }
    part.outputs = outputs.filter { written.contains($0.name) }
    part.probabilities = written.contains(StageSlot.scores) ? probabilities : nil
    part.entering = items.computed(among: stage.inputs, except: features)
    part.leaving += items.computed(among: stage.outputs, except: features).map {
      NetworkPartOutput(slot: $0.slot, value: .tensor($0.name))
    }
    return part
  }

  private func hostParts(
    _ item: NetworkItem, known: [NetworkItem], of stage: SizeStage, _ name: String,
    _ graph: (String, StageGroup) -> FunctionPart
  ) -> [FunctionPart]? {
    func parts(_ tensors: NetworkTensors, _ suffix: String = "", given: [String] = []) -> [FunctionPart]? {
      self.parts(known + tensors.items, stage.inputs + given, tensors.left, name + suffix, graph)
    }
    let outputs = [item].computed(among: item.operation.outputs, except: [])
    let slots = Dictionary(outputs.map { ($0.name, $0.slot) }) { first, _ in first }
    switch item.controlFlow {
    case .loop(let loop):
      guard let start = parts(loop.start, ".start"), let body = parts(loop.body, given: loop.carried.map(\.given))
      else { return nil }
      let carried = loop.carried.map { carried in
        LoopPart.Carried(
          start: carried.start, given: carried.given, left: carried.left,
          result: carried.result.flatMap { slots[$0] }.flatMap { stage.outputs.contains($0) ? $0 : nil })
      }
      return start + [
        .loop(
          LoopPart(
            name: loop.name, limit: loop.limit, condition: loop.condition, trip: nil, tripShape: [],
            goesOn: loop.goesOn, carried: carried, rows: [], captured: stage.inputs, body: body))
      ]
    case .branch(let branch):
      guard let start = parts(branch.start, ".start"), let then = parts(branch.then, ".then"),
        let otherwise = parts(branch.otherwise, ".else")
      else { return nil }
      return start + [
        .branch(
          BranchPart(
            name: branch.name, condition: branch.condition,
            then: BranchPart.Side(parts: then, left: branch.then.left),
            otherwise: BranchPart.Side(parts: otherwise, left: branch.otherwise.left),
            outputs: branch.results.compactMap { slots[$0] }, captured: stage.inputs))
      ]
    case .custom(let custom):
      return parts(custom.start, ".start").map { $0 + [.host(custom.operation(slots))] }
    case nil: return nil
    }
  }

  /// Returns the parts that compute the outputs of a network before control flow, in an iteration or on a side. Items
  /// that no output needs are left out.
  private func parts(
    _ items: [NetworkItem], _ inputs: [String], _ outputs: [String], _ name: String,
    _ graph: (String, StageGroup) -> FunctionPart
  ) -> [FunctionPart]? {
    var needed = SizeStages(items.map(\.operation), inputs, outputs)
    let items = needed.live.sorted().map { items[$0] }
    let read = Set(items.flatMap { $0.operation.uses.map(\.name) })
    let stages = SizeStages.stages(
      of: items.map(\.operation), inputs: inputs.filter(read.contains), constants: [], outputs: outputs)
    var parts: [FunctionPart] = []
    for (index, stage) in stages.enumerated() {
      let name = stages.count == 1 ? name : "\(name).\(index + 1)"
      let own = stage.operations.map { items[$0] }
      if let hostOperation = stage.hostOperation {
        guard let inner = hostParts(items[hostOperation], known: own, of: stage, name, graph) else { return nil }
        parts += inner
      } else {
        guard let part = part(own, of: stage) else { return nil }
        parts.append(
          graph(
            name,
            StageGroup(
              stages: [part], inputs: stage.inputs, valueDependent: stage.valueDependent, outputs: stage.outputs)))
      }
    }
    return parts
  }
}
