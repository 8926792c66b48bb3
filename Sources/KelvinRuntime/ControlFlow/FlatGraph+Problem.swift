package import KelvinGraph
package import KelvinPlanning

/// What planning sees of a graph: control flow is told in how often values are copied, in values that are not copied at
/// all, and in signals.
extension FlatGraph {
  /// A node without its costs. Nodes that share a device pass a value of no bytes that is never copied.
  package func record(_ index: Int) -> PlanningProblem.Node {
    let node = graph.nodes[index]
    var record = PlanningProblem.Node(
      id: node.name, inputs: node.inputs.filter { graph[$0].weight == nil }.map { graph[$0].name },
      outputs: node.outputs.map(record), seconds: [:])
    if let signal = signals[index] { record.inputs.append(signal) }
    addTies(to: &record)
    return record
  }

  package func record(_ value: ValueID) -> PlanningProblem.Value {
    .init(value: graph[value].name, bytes: graph[value].type.byteCount, copies: copies[value.index])
  }

  /// The values that begin somewhere without a node, as nodes that take no time.
  package func sourceRecords(on devices: [String]) -> [PlanningProblem.Node] {
    sources.map { source in
      var record = PlanningProblem.Node(id: source.name, inputs: [], outputs: [record(source.value)], seconds: [:])
      record.takesNoTime(on: devices)
      addTies(to: &record)
      return record
    }
  }

  /// Branches and loops as nodes of the host, without costs.
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
