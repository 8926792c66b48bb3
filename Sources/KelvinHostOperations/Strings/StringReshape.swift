package import KelvinGraph

/// Returns the same strings in another shape, or in their own (ONNX's `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`,
/// `Identity`). Negative axes count from the end.
package struct StringReshape: OneOutputOperation {
  package static let name = "string_reshape"

  package enum Change: Hashable, Sendable {
    case kept
    /// The sizes. At most one may be -1, which takes the remaining elements. A 0 stands for the size of the input's
    /// axis if `copiesZeros`.
    case sizes([Int], copiesZeros: Bool)
    /// Two axes: the axes before the given one, and the axes from it on.
    case flattened(at: Int)
    /// Removes some axes of size 1; nil removes all of them.
    case removed([Int]?)
    /// Inserts axes of size 1 at the given indices of the result.
    case inserted([Int])
  }

  package let change: Change
  package let input: HostOperand<StringTensor>
  package let output: String

  package init(_ change: Change, input: HostOperand<StringTensor>, output: String) {
    self.change = change
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input.slot].compactMap { $0 } }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard let shape = [input].shapes(inputs)[0] else { return [.unknown] }
    return [.strings(try changed(shape))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var position = 0
    let strings = try strings([input], inputs, from: &position)[0]
    return [.strings(StringTensor(strings.strings, try changed(strings.shape)))]
  }

  private func changed(_ shape: Shape) throws(HostOperationError) -> Shape {
    let sizes = shape.dimensions
    switch change {
    case .kept: return shape
    case .sizes(let wanted, let copiesZeros): return try filled(wanted, copiesZeros, shape)
    case .flattened(let axis):
      let place = axis < 0 ? axis + shape.rank : axis
      guard (0...shape.rank).contains(place) else { throw misplaced([axis], shape) }
      return [sizes[..<place].reduce(1, *), sizes[place...].reduce(1, *)]
    case .removed(let axes):
      let places = try axes.map { list throws(HostOperationError) in try self.places(list, rank: shape.rank, shape) }
      let left = sizes.indices.filter { axis in places.map { !$0.contains(axis) } ?? (sizes[axis] != 1) }
      guard left.map({ sizes[$0] }).reduce(1, *) == shape.count else { throw misplaced(axes ?? [], shape) }
      return Shape(left.map { sizes[$0] })
    case .inserted(let axes):
      let rank = shape.rank + axes.count
      let places = try places(axes, rank: rank, shape)
      guard places.count == axes.count else { throw misplaced(axes, shape) }
      var rest = sizes[...]
      return Shape((0..<rank).map { places.contains($0) ? 1 : rest.removeFirst() })
    }
  }

  private func filled(_ sizes: [Int], _ copiesZeros: Bool, _ shape: Shape) throws(HostOperationError) -> Shape {
    var whole = sizes.enumerated().map { axis, size in
      size == 0 && copiesZeros && axis < shape.rank ? shape[axis] : size
    }
    let known = Shape(whole.filter { $0 != -1 })
    let free = whole.indices.filter { whole[$0] == -1 }
    if free.count == 1, known.isAddressable, known.count > 0 { whole[free[0]] = shape.count / known.count }
    guard Shape(whole).isAddressable, Shape(whole).count == shape.count else {
      throw refused(0, "strings [\(shape)] do not fit \(sizes)", remedy: "give another number of them")
    }
    return Shape(whole)
  }

  private func places(_ axes: [Int], rank: Int, _ shape: Shape) throws(HostOperationError) -> Set<Int> {
    let places = axes.map { $0 < 0 ? $0 + rank : $0 }
    guard places.allSatisfy((0..<rank).contains) else { throw misplaced(axes, shape) }
    return Set(places)
  }

  private func misplaced(_ axes: [Int], _ shape: Shape) -> HostOperationError {
    refused(0, "strings [\(shape)] have no axes \(axes) for it", remedy: "give as many axes as the model names")
  }
}
