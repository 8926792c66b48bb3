import KelvinBasics
import Synchronization

/// A table of distinct strings with ascending indices. Strings are compared by their bytes: Swift's equality ignores
/// differences in Unicode normalization.
///
/// A table is immutable. Tables derived from each other share their storage, so that a series of tables, each extending
/// the previous one, takes as much time and memory as the last.
package struct StringTable: Sendable {
  private let shared: Shared
  package let count: Int

  package init() { self.init(Shared(Entries()), 0) }

  private init(_ shared: Shared, _ count: Int) {
    self.shared = shared
    self.count = count
  }

  /// Looks strings up, and adds the missing ones.
  ///
  /// - Parameters:
  ///   - known: Returns the index of a string that is not stored in the table, or nil.
  ///   - start: The index of the first added string, above all existing ones; the others follow consecutively.
  /// - Returns: The extended table, and the index of each string.
  package func adding(
    _ strings: [[String]], from start: Int, known: (String) -> Int64?
  ) -> (table: StringTable, places: [[Int64]]) {
    if let grown = shared.entries.withLock({ $0.places.count == count ? $0.add(strings, start, known) : nil }) {
      return (StringTable(shared, grown.count), grown.places)
    }
    // Another table has been derived from this one.
    var entries = shared.entries.withLock { $0.first(count) }
    let grown = entries.add(strings, start, known)
    return (StringTable(Shared(entries), grown.count), grown.places)
  }

  /// Returns the strings of indices; nil for an unassigned index.
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
    /// The assigned indices, ascending.
    var places: [Int64] = []
    var indices: [ExactString: Int] = [:]

    func first(_ count: Int) -> Entries {
      let strings = Array(strings[..<count])
      return Entries(
        strings: strings, places: Array(places[..<count]),
        indices: Dictionary(uniqueKeysWithValues: zip(strings.exact, 0...)))
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
