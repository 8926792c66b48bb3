import KelvinGraph
import KelvinPlanning

/// What planning sees of a graph: control flow is told in how often values are copied and in values that are not copied
/// at all.
extension FlatGraph {
  /// A node without its costs. Nodes that share a device pass a value of no bytes that is never copied.
  func record(_ index: Int) -> PlanningProblem.Node {
    let node = graph.nodes[index]
    var record = PlanningProblem.Node(
      id: node.name, inputs: node.inputs.filter { graph[$0].weight == nil }.map { graph[$0].name },
      outputs: node.outputs.map(record), seconds: [:])
    addTies(to: &record)
    return record
  }

  func record(_ value: ValueID) -> PlanningProblem.Value {
    .init(value: graph[value].name, bytes: graph[value].type.byteCount, copies: copies[value.index])
  }

  /// The values that begin somewhere without a node, as nodes that take no time.
  func sourceRecords(on devices: [String]) -> [PlanningProblem.Node] {
    sources.map { source in
      var record = PlanningProblem.Node(
        id: source.name, inputs: [], outputs: [record(source.value)],
        seconds: Dictionary(uniqueKeysWithValues: devices.map { ($0, 0) }),
        joules: Dictionary(uniqueKeysWithValues: devices.map { ($0, 0) }))
      addTies(to: &record)
      return record
    }
  }

  private func addTies(to record: inout PlanningProblem.Node) {
    for tie in ties {
      if tie.first == record.id {
        record.outputs.append(.init(value: "\(tie.first)=\(tie.second)", bytes: 0, copies: .infinity))
      }
      if tie.second == record.id { record.inputs.append("\(tie.first)=\(tie.second)") }
    }
  }
}
