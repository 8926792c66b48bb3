import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Sequences of tensors, and optional values, as inputs and outputs of a graph. The elements of all tensors are one
/// input or output. Their layout is a constant that the graph is specialized for.
extension ONNXGraphSource {
  private static let tensorLimit = 1 << 12

  /// Defines a sequence by the values of its two slots.
  func defineList(
    _ name: String, _ computed: [String: TensorType], _ values: [String: Tensor], _ scope: ONNXScope
  ) throws {
    let (slots, emitter) = (model.listSlots(name), scope.emitter)
    guard let layout = values[slots.layout].flatMap({ SequenceLayout($0) }), let type = computed[slots.elements],
      layout.count <= type.count
    else { throw GraphError("input '\(name)'", "its tensors and their layout are not known") }
    guard layout.shapes.count <= Self.tensorLimit else {
      throw GraphError("input '\(name)'", "has \(layout.shapes.count) tensors, expected at most \(Self.tensorLimit)")
    }
    emitter.begin(Origin(name: name, kind: "input", index: 0), outputNames: [])
    let elements = layout.count > 0 ? try emitter.input(slots.elements, type) : nil
    var tensors: [ValueID] = []
    var place = 0
    for (index, shape) in layout.shapes.enumerated() {
      guard let elements, shape.count > 0 else {
        tensors.append(emitter.zeros(TensorType(type.scalar, shape), step: "empty\(index)"))
        continue
      }
      let own = try emitter.slice(elements, [SliceRange(start: place, count: shape.count)], step: "elements\(index)")
      tensors.append(try emitter.reshape(own, shape, step: "\(index)"))
      place += shape.count
    }
    let entity: ONNXEntity =
      switch layout.kind {
      case .absent: .absent
      case .tensor: .tensor(tensors[0])
      case .sequence: .sequence(tensors)
      }
    try scope.define(name, entity, by: "input")
  }

  /// Returns the two values that represent an entity: the concatenated elements of its tensors, and their layout.
  func listOutput(_ name: String, _ entity: ONNXEntity, _ emitter: Emitter) throws -> [ValueID] {
    emitter.begin(Origin(name: name, kind: "output", index: 0), outputNames: [])
    var tensors: [ValueID] = []
    let kind: SequenceLayout.Kind
    switch entity {
    case .absent: kind = .absent
    case .tensor(let id): (kind, tensors) = (.tensor, [id])
    case .sequence(let ids): (kind, tensors) = (.sequence, ids)
    }
    guard let layout = SequenceLayout(kind, tensors.map { emitter.shape($0) }) else {
      throw emitter.invalid("its tensors have more elements than can be addressed")
    }
    let filled = try tensors.filter { emitter.shape($0).count > 0 }.enumerated().map { index, id in
      try emitter.reshape(id, [emitter.shape(id).count], step: "row\(index)")
    }
    let elements =
      switch filled.count {
      case 0: emitter.zeros(TensorType(tensors.first.map { emitter.scalar($0) } ?? .float32, [1]), step: "elements")
      case 1: filled[0]
      default: try emitter.concat(filled, axis: 0, step: "elements")
      }
    return [elements, emitter.constant(Weight(layout.tensor), step: "layout")]
  }
}
