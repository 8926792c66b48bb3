/// An index of byte strings, which finds those that a text begins with.
struct PieceIndex: Hashable, Sendable {
  /// The byte strings in order, with their numbers.
  private let keys: [Key]

  private struct Key: Hashable {
    let bytes: [UInt8]
    let number: Int
  }

  init(_ keys: [([UInt8], Int)]) {
    self.keys = keys.map { Key(bytes: $0, number: $1) }
      .sorted { $0.bytes == $1.bytes ? $0.number < $1.number : $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  subscript(bytes: some Collection<UInt8>) -> Int? {
    var found: Int?
    forEachPrefix(of: bytes) { length, number in found = length == bytes.count ? number : nil }
    return found
  }

  /// Calls a function with the length and the number of each byte string that is not empty and that a text begins
  /// with, shortest first.
  func forEachPrefix(of text: some Collection<UInt8>, _ body: (Int, Int) -> Void) {
    var range = 0..<keys.count
    for (depth, byte) in text.enumerated() {
      range = bound(range, depth) { $0 >= byte }..<bound(range, depth) { $0 > byte }
      guard let first = range.first else { return }
      if keys[first].bytes.count == depth + 1 { body(depth + 1, keys[first].number) }
    }
  }

  /// Returns the first key of a range whose byte at a depth fulfils a condition that later ones fulfil too.
  private func bound(_ range: Range<Int>, _ depth: Int, _ holds: (UInt8) -> Bool) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle].bytes.count > depth, holds(keys[middle].bytes[depth]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
