package import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// The facts that a graph is specialized for: the sizes of the function's inputs, the types of earlier results, and
/// the elements on which sizes depend.
package struct SlotTypes: Hashable, Sendable {
  package var shapes: [String: Shape]
  package var computed: [String: TensorType]
  package var values: [String: Tensor]

  package init(
    shapes: [String: Shape] = [:], computed: [String: TensorType] = [:], values: [String: Tensor] = [:]
  ) {
    self.shapes = shapes
    self.computed = computed
    self.values = values
  }

  /// Creates the types of a graph that was built without values.
  init(of graph: Graph, computed: [String: TensorType]) {
    let own = graph.inputs.map { (graph[$0].name, graph[$0].type.shape) }.filter { computed[$0.0] == nil }
    self.init(shapes: Dictionary(own) { first, _ in first }, computed: computed)
  }

  /// Whether a graph that was built without values has inputs of these types.
  func fit(_ graph: Graph) -> Bool {
    func input(_ name: String) -> TensorType? {
      graph.inputs.first { graph[$0].name == name }.map { graph[$0].type }
    }
    return values.isEmpty && shapes.allSatisfy { input($0.key)?.shape == $0.value }
      && computed.allSatisfy { input($0.key) == $0.value }
  }

  /// The types shared by all sizes of a bucket: every size, and every integer on which sizes depend, is rounded up to
  /// a power of two.
  var bucket: SlotTypes {
    SlotTypes(
      shapes: shapes.mapValues(\.bucket),
      computed: computed.mapValues { TensorType($0.scalar, $0.shape.bucket) },
      values: values.mapValues { tensor in
        guard tensor.type.scalar == .int64 || tensor.type.scalar == .int32 else { return tensor }
        return Tensor(tensor.type, wrapping: tensor.words.map(\.bucket))
      })
  }

  /// Returns the types of the same inputs in a graph.
  func of(_ graph: Graph) -> SlotTypes {
    let known = Dictionary(graph.inputs.map { (graph[$0].name, graph[$0].type) }) { first, _ in first }
    return SlotTypes(
      shapes: Dictionary(uniqueKeysWithValues: shapes.map { ($0.key, known[$0.key]?.shape ?? $0.value) }),
      computed: Dictionary(uniqueKeysWithValues: computed.map { ($0.key, known[$0.key] ?? $0.value) }), values: values)
  }

  /// The shapes of all inputs, as plans store them.
  var sizes: [String: [Int]] {
    shapes.mapValues(\.dimensions).merging(computed.mapValues(\.shape.dimensions)) { first, _ in first }
  }

  /// The elements on which sizes depend, as plans store them.
  var sizeValues: [String: [Double]] { values.mapValues(\.doubles) }

  /// Whether the plan of a graph sampled at some sizes is valid for these.
  ///
  /// - Parameter isShared: whether the sizes of a bucket share a plan.
  func areServed(by part: Plan.Part, isShared: Bool) -> Bool {
    guard let sampled = part.sampledSizes else { return false }
    let (wanted, held) = (sizes, part.sampledValues ?? [:])
    guard isShared else { return wanted == sampled && sizeValues == held }
    guard wanted.mapValues({ Shape($0).bucket }) == sampled.mapValues({ Shape($0).bucket }) else { return false }
    return bucket.sizeValues
      == held.mapValues { $0.map { value in Int64(exactly: value).map { Double($0.bucket) } ?? value } }
  }
}

extension Shape {
  var bucket: Shape { Shape(dimensions.map(\.bucket)) }
}
