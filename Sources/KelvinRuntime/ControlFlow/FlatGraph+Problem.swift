package import KelvinGraph
package import KelvinPlanning

/// The planning problem of a graph. It models control flow by copy counts, by values that are never copied, and by
/// signals.
extension FlatGraph {
  /// Returns a node without its costs. Nodes that must share a device pass a value of zero bytes that is never
  /// copied.
  package func record(_ index: Int) -> PlanningProblem.Node {
    let node = graph.nodes[index]
    var record = PlanningProblem.Node(
      id: node.name, inputs: node.inputs.filter { graph[$0].weight == nil }.map { graph[$0].name },
      outputs: node.outputs.map(record), weights: node.inputs.uniqued.compactMap(weight), seconds: [:])
    if let signal = signals[index] { record.inputs.append(signal) }
    addTies(to: &record)
    return record
  }

  /// Devices keep weights as plain elements of their types.
  private func weight(_ value: ValueID) -> PlanningProblem.Weight? {
    guard graph[value].weight != nil else { return nil }
    return PlanningProblem.Weight(weight: graph[value].name, bytes: graph[value].type.byteCount)
  }

  package func record(_ value: ValueID) -> PlanningProblem.Value {
    .init(value: graph[value].name, bytes: graph[value].type.byteCount, copies: copies[value.index])
  }

  /// Returns the values without a producing node, as nodes that take no time.
  package func sourceRecords(on devices: [String]) -> [PlanningProblem.Node] {
    sources.map { source in
      var record = PlanningProblem.Node(id: source.name, inputs: [], outputs: [record(source.value)], seconds: [:])
      record.takesNoTime(on: devices)
      addTies(to: &record)
      return record
    }
  }

  /// Returns branches and loops as nodes of the host, without costs.
  package func controlRecords() -> [PlanningProblem.Node] {
    controls.map { control in
      PlanningProblem.Node(
        id: control.name, inputs: control.reads.map { graph[$0].name },
        outputs: [.init(value: control.signal, bytes: 0, copies: control.turns * control.kind.startsEachTurn)],
        seconds: [:])
    }
  }

  private func addTies(to record: inout PlanningProblem.Node) {
    for tie in ties[record.id] {
      if tie.first == record.id { record.outputs.append(.init(value: tie.value, bytes: 0, copies: .infinity)) }
      if tie.second == record.id { record.inputs.append(tie.value) }
    }
  }
}

extension PlanningProblem.Node {
  mutating func takesNoTime(on devices: [String]) {
    seconds = Dictionary(uniqueKeysWithValues: devices.map { ($0, 0) })
    joules = seconds
  }
}
