package import KelvinGraph

/// The number of tensors in a sequence, and their shapes. A graph that reads a sequence or an optional value is
/// specialized for the layout.
///
/// As integers, the layout is 0 for no value, 1 for a tensor or 2 for a sequence, followed by the number of tensors,
/// and for each its rank and its sizes.
package struct SequenceLayout: Hashable, Sendable {
  package enum Kind: Int, Sendable { case absent, tensor, sequence }

  package let kind: Kind
  package let shapes: [Shape]
  /// The number of elements of all tensors.
  package let count: Int

  /// Creates a layout.
  ///
  /// - Returns: Nil if the tensors have more elements than are addressable.
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

  /// Reads a layout.
  ///
  /// - Returns: Nil if the integers are not a valid layout.
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

  /// Returns the slots in which graphs hold a value.
  ///
  /// - Parameter mark: A separator that does not occur in names of other slots, except generated ones.
  package static func slots(of name: String, mark: String) -> (elements: String, layout: String) {
    ("\(name)\(mark)elements", "\(name)\(mark)layout")
  }
}
