import Synchronization

/// Different strings with rising places, found by their bytes: Swift's equality passes over how characters are written.
///
/// One that others were made of keeps what it has. They share all of it, so that a row of tables, each of which adds to
/// the one before, takes as much time and memory as the last.
package struct StringTable: Sendable {
  private let shared: Shared
  package let count: Int

  package init() { self.init(Shared(Entries()), 0) }

  private init(_ shared: Shared, _ count: Int) {
    self.shared = shared
    self.count = count
  }

  /// Looks strings up, and adds those that are not there.
  ///
  /// - Parameters:
  ///   - known: the place of a string that needs none here.
  ///   - start: the place of the first that is added, above all there are; others follow it.
  /// - Returns: the table with them, and the place of each string.
  package func adding(
    _ strings: [[String]], from start: Int, known: (String) -> Int64?
  ) -> (table: StringTable, places: [[Int64]]) {
    if let grown = shared.entries.withLock({ $0.places.count == count ? $0.add(strings, start, known) : nil }) {
      return (StringTable(shared, grown.count), grown.places)
    }
    // Another one has been made of this one.
    var entries = shared.entries.withLock { $0.first(count) }
    let grown = entries.add(strings, start, known)
    return (StringTable(Shared(entries), grown.count), grown.places)
  }

  /// The strings at places; of a place that none has, nil.
  package func strings(at places: [Int]) -> [String?] {
    shared.entries.withLock { entries in
      places.map { place in
        var (low, high) = (0, count)
        while low < high {
          let middle = (low + high) / 2
          if entries.places[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < count && entries.places[low] == place ? entries.strings[low] : nil
      }
    }
  }

  private struct Entries {
    var strings: [String] = []
    /// Ascending.
    var places: [Int64] = []
    var indices: [ExactString: Int] = [:]

    func first(_ count: Int) -> Entries {
      let strings = Array(strings[..<count])
      return Entries(
        strings: strings, places: Array(places[..<count]),
        indices: Dictionary(uniqueKeysWithValues: zip(strings.map(ExactString.init), 0...)))
    }

    mutating func add(
      _ given: [[String]], _ start: Int, _ known: (String) -> Int64?
    ) -> (places: [[Int64]], count: Int) {
      var next = Int64(start)
      let found = given.map { given in
        given.map { string in
          if let place = known(string) { return place }
          let key = ExactString(string)
          if let index = indices[key] { return places[index] }
          indices[key] = places.count
          strings.append(string)
          places.append(next)
          next += 1
          return next - 1
        }
      }
      return (found, places.count)
    }
  }

  private final class Shared: Sendable {
    let entries: Mutex<Entries>
    init(_ entries: Entries) { self.entries = Mutex(entries) }
  }
}

/// A string that equals no other of the same characters in other scalars, as Swift's own do.
package struct ExactString: Hashable, Comparable, Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }

  package static func == (a: Self, b: Self) -> Bool { a.string.utf8.elementsEqual(b.string.utf8) }
  package static func < (a: Self, b: Self) -> Bool { a.string.utf8.lexicographicallyPrecedes(b.string.utf8) }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
