package import KelvinGraph

/// How many tensors a sequence has, and their shapes: what a graph is built for that reads it, or reads a value that may
/// be left out.
///
/// As integers: 0 for no value, 1 for a tensor, 2 for a sequence; then how many tensors there are, and of each its rank and
/// its sizes.
package struct SequenceLayout: Hashable, Sendable {
  package enum Kind: Int, Sendable { case absent, tensor, sequence }

  package let kind: Kind
  package let shapes: [Shape]
  /// The elements of all tensors.
  package let count: Int

  /// - Returns: nil where the tensors have more elements than can be addressed.
  package init?(_ kind: Kind, _ shapes: [Shape]) {
    var sum = 0
    for shape in shapes {
      let (next, overflow) = sum.addingReportingOverflow(shape.count)
      guard !overflow else { return nil }
      sum = next
    }
    guard Shape([sum]).isAddressable else { return nil }
    count = sum
    self.kind = kind
    self.shapes = shapes
  }

  /// - Returns: nil where the integers are no layout.
  package init?(_ tensor: Tensor) {
    var rest = tensor.integers[...]
    guard let kind = rest.popFirst().flatMap(Kind.init(rawValue:)), let count = rest.popFirst(),
      (0...rest.count).contains(count), kind == .sequence || count == (kind == .tensor ? 1 : 0)
    else { return nil }
    var shapes: [Shape] = []
    for _ in 0..<count {
      guard let rank = rest.popFirst(), (0...rest.count).contains(rank) else { return nil }
      let shape = Shape(Array(rest.prefix(rank)))
      guard shape.isAddressable else { return nil }
      shapes.append(shape)
      rest = rest.dropFirst(rank)
    }
    self.init(kind, shapes)
  }

  package var tensor: Tensor {
    let integers = [kind.rawValue, shapes.count] + shapes.flatMap { [$0.rank] + $0.dimensions }
    return Tensor(integers.map(Int64.init), [integers.count])
  }

  /// The slots in which graphs have a value.
  ///
  /// - Parameter mark: what no name of a slot has in it that is not made of another.
  package static func slots(of name: String, mark: String) -> (elements: String, layout: String) {
    ("\(name)\(mark)elements", "\(name)\(mark)layout")
  }
}
