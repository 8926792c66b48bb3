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
  /// Bytes from the start of the place.
  package let offset: Int
  package let byteCount: Int
  /// Whether it holds floats that lie as float16.
  package let isHalf: Bool

  var isWeight: Bool { if case .weight = place { true } else { false } }

  package init(_ place: Place, offset: Int = 0, byteCount: Int, isHalf: Bool) {
    self.place = place
    self.offset = offset
    self.byteCount = byteCount
    self.isHalf = isHalf
  }

  /// Some of its bytes. What kernels are to see begins at a multiple of `bufferAlignment`.
  func part(at offset: Int, byteCount: Int) -> Storage {
    Storage(place, offset: self.offset + offset, byteCount: byteCount, isHalf: isHalf)
  }
}
