/// Memory that a kernel reads or writes, before it is known where it lies.
package struct Storage: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// The segment's input, output, the executable's weight or scratch value of that index.
    case input(Int)
    case output(Int)
    case weight(Int)
    case scratch(Int)
  }

  package let place: Place
  package let byteCount: Int
  /// Whether it holds floats that lie as float16.
  package let isHalf: Bool

  var isWeight: Bool { if case .weight = place { true } else { false } }

  package init(_ place: Place, byteCount: Int, isHalf: Bool) {
    self.place = place
    self.byteCount = byteCount
    self.isHalf = isHalf
  }
}
