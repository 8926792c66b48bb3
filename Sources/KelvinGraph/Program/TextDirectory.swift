import Synchronization

/// Different texts with rising places, found by their bytes: Swift's equality passes over how characters are written.
///
/// One that others were made of keeps what it has. They share all of it, so that a row of directories, each of which adds to
/// the one before, takes as much time and memory as the last.
package struct TextDirectory: Sendable {
  private let shared: Shared
  package let count: Int

  package init() { self.init(Shared(Entries()), 0) }

  private init(_ shared: Shared, _ count: Int) {
    self.shared = shared
    self.count = count
  }

  /// Looks texts up, and adds those that are not there.
  ///
  /// - Parameters:
  ///   - known: the place of a text that needs none here.
  ///   - start: the place of the first that is added, above all there are; others follow it.
  /// - Returns: the directory with them, and the place of each text.
  package func adding(
    _ texts: [[String]], from start: Int, known: (String) -> Int64?
  ) -> (directory: TextDirectory, places: [[Int64]]) {
    if let grown = shared.entries.withLock({ $0.places.count == count ? $0.add(texts, start, known) : nil }) {
      return (TextDirectory(shared, grown.count), grown.places)
    }
    // Another one has been made of this one.
    var entries = shared.entries.withLock { $0.first(count) }
    let grown = entries.add(texts, start, known)
    return (TextDirectory(Shared(entries), grown.count), grown.places)
  }

  /// The texts at places; of a place that none has, nil.
  package func texts(at places: [Int]) -> [String?] {
    shared.entries.withLock { entries in
      places.map { place in
        var (low, high) = (0, count)
        while low < high {
          let middle = (low + high) / 2
          if entries.places[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < count && entries.places[low] == place ? entries.texts[low] : nil
      }
    }
  }

  private struct Entries {
    var texts: [String] = []
    /// Ascending.
    var places: [Int64] = []
    var indices: [ExactText: Int] = [:]

    func first(_ count: Int) -> Entries {
      let texts = Array(texts[..<count])
      return Entries(
        texts: texts, places: Array(places[..<count]),
        indices: Dictionary(uniqueKeysWithValues: zip(texts.map(ExactText.init), 0...)))
    }

    mutating func add(
      _ given: [[String]], _ start: Int, _ known: (String) -> Int64?
    ) -> (places: [[Int64]], count: Int) {
      var next = Int64(start)
      let found = given.map { given in
        given.map { text in
          if let place = known(text) { return place }
          let key = ExactText(text)
          if let index = indices[key] { return places[index] }
          indices[key] = places.count
          texts.append(text)
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

/// A text that equals no other of the same characters in other scalars, as Swift's own do.
package struct ExactText: Hashable, Comparable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
  package static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
