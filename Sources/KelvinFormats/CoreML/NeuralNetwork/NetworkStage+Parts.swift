import KelvinGraph

extension NetworkStage: DivisibleStage {
  private func tensors(at place: Int) -> NetworkTensors {
    let there = layers.reduce(into: Set(inputs.map(\.name))) { $0.formUnion($1.staged.outputs) }
    return NetworkTensors(
      layers, at: place, inputs: inputs.map(\.name), outputs: outputs.map(\.name).filter(there.contains),
      scores: probabilities)
  }

  func operations(at place: Int) -> [StagedOperation] { tensors(at: place).operations }

  func part(_ operations: [Int], of stage: SizeStage, at place: Int) -> (any ModelStage)? {
    let tensors = tensors(at: place)
    let features = inputs.map(\.name)
    guard tensors.canRun(operations, entering: stage.inputs, leaving: stage.outputs) else { return nil }
    let written = Set(operations.filter { $0 >= layers.count }.flatMap { tensors.operations[$0].outputs })
    var part = self
    part.layers = operations.filter { $0 < layers.count }.map { layers[$0] }
    part.outputs = outputs.filter { written.contains($0.name) }
    part.probabilities = written.contains(StageSlot.scores) ? probabilities : nil
    part.entering = tensors.computed(among: stage.inputs, except: features)
    part.leaving = tensors.computed(among: stage.outputs, except: features)
    return part
  }
}
