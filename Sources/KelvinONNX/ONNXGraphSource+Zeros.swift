import KelvinGraph
import KelvinImport

/// Handling of sizes that a file declares as 0: empty or, as some exporters write them, unknown. This size stays open.
/// If no caller gives it, and the graph can be built with size 0 but not with size 1, the file means 0.
extension ONNXGraphSource {
  /// Returns the shapes of inputs that declare a 0, with another size in its place. Nil if there are no such inputs, or
  /// if one of them has another unknown size.
  ///
  /// - Parameter given: The inputs whose shapes are known.
  func openShapes(besides given: Set<String>, zeros size: Int) -> [String: Shape]? {
    let declared = Dictionary(model.graph.inputs.map { ($0.name, $0.sizes ?? []) }) { first, _ in first }
    var shapes: [String: Shape] = [:]
    for input in inputs where !given.contains(input.name) {
      guard case .tensor(_, let dimensions) = input.type, let sizes = declared[input.name],
        sizes.count == dimensions.count, sizes.contains(where: \.isZero)
      else { continue }
      let known = zip(sizes, dimensions).compactMap { $0.isZero ? size : $1.standard }
      guard known.count == sizes.count else { return nil }
      shapes[input.name] = Shape(known)
    }
    return shapes.isEmpty ? nil : shapes
  }

  /// Whether a graph's outputs have the sizes that the file declares for them.
  func fits(_ graph: Graph) -> Bool {
    guard graph.outputs.count == outputs.count else { return true }
    let declared = Dictionary(model.graph.outputs.map { ($0.name, $0.sizes) }) { first, _ in first }
    return zip(outputs, graph.outputs).allSatisfy { name, id in
      guard let sizes = declared[name] ?? nil else { return true }
      let shape = graph[id].type.shape
      return shape.rank == sizes.count && zip(sizes, shape.dimensions).allSatisfy { $0.value == nil || $0.value == $1 }
    }
  }
}
