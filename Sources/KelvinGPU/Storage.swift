/// Memory that a kernel reads or writes, before its address is known.
package struct Storage: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// The index of a segment's input or output, of an executable's weight, or of a scratch value.
    case input(Int)
    case output(Int)
    case weight(Int)
    case scratch(Int)
  }

  package let place: Place
  /// The offset in the input, output, weight or scratch value, in bytes.
  package let offset: Int
  package let byteCount: Int
  /// Whether the memory holds floats stored as float16.
  package let isHalf: Bool

  var isWeight: Bool { if case .weight = place { true } else { false } }

  package init(_ place: Place, offset: Int = 0, byteCount: Int, isHalf: Bool) {
    self.place = place
    self.offset = offset
    self.byteCount = byteCount
    self.isHalf = isHalf
  }

  /// Returns a range of the bytes. A range that kernels access must begin at a multiple of `bufferAlignment`.
  func part(at offset: Int, byteCount: Int) -> Storage {
    Storage(place, offset: self.offset + offset, byteCount: byteCount, isHalf: isHalf)
  }
}
