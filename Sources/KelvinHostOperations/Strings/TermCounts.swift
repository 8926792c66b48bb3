package import KelvinGraph

/// Counts the n-grams of a pool in a list of words, or in each of several lists. The words of an n-gram may be
/// adjacent, or have up to a number of skipped words between them (ONNX's `TfIdfVectorizer`).
package struct TermCounts: OneInputOperation {
  package static let name = "term_counts"

  package struct Term: Hashable, Sendable {
    /// The words, as indices in the pool's vocabulary.
    package let words: [Int]
    /// The column of the result.
    package let column: Int
    package let weight: Float

    package init(words: [Int], column: Int, weight: Float) {
      self.words = words
      self.column = column
      self.weight = weight
    }
  }

  /// The result for a count.
  package enum Measure: Hashable, Sendable {
    case count
    /// The weight if the n-gram occurs, else 0.
    case weight
    case product
  }

  package let vocabulary: Column
  package let terms: [Term]
  /// The lengths of n-grams that are counted.
  package let lengths: ClosedRange<Int>
  package let skips: Int
  package let measure: Measure
  package let columns: Int
  package let input: String
  package let output: String
  private let places: [Column.Key: Int]
  private let tree: TermTree

  /// Creates the operation.
  ///
  /// - Precondition: The words of terms are valid indices in the vocabulary, and their columns are below `columns`.
  package init(
    _ terms: [Term], of vocabulary: Column, lengths: ClosedRange<Int>, skips: Int, measure: Measure, columns: Int,
    input: String, output: String
  ) {
    self.vocabulary = vocabulary
    self.terms = terms
    self.lengths = lengths
    self.skips = skips
    self.measure = measure
    self.columns = columns
    self.input = input
    self.output = output
    let places = vocabulary.places
    self.places = places
    let keys = vocabulary.keys
    // A word has a single index, even if the vocabulary contains it several times.
    tree = TermTree(terms.map { term in term.words.map { places[keys[$0]] ?? $0 } })
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard let shape = inputs[0].shape else { return [.unknown] }
    return [.tensor(TensorType(.float32, try result(shape)))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (elements, shape) = try vocabulary.elements(inputs[0], of: self, 0)
    let result = try result(shape)
    let length = shape.rank == 0 ? 1 : shape[shape.rank - 1]
    // Words that are not in the pool are not part of any term.
    let words = elements.map { places[$0] ?? -1 }
    var measured = [Float](repeating: 0, count: result.count)
    for row in 0..<(columns == 0 ? 0 : result.count / columns) {
      count(words[(row * length)..<(row + 1) * length]) { found in
        let place = row * columns + terms[found].column
        switch measure {
        case .count: measured[place] += 1
        case .weight: measured[place] = terms[found].weight
        case .product: measured[place] += terms[found].weight
        }
      }
    }
    return [.tensor(Tensor(measured, result))]
  }

  private func count(_ words: ArraySlice<Int>, _ found: (Int) -> Void) {
    for step in 1...(skips + 1) {
      // Single words are the same at every distance.
      let least = step == 1 ? lengths.lowerBound : max(2, lengths.lowerBound)
      guard least <= lengths.upperBound else { return }
      // The list is too short for an n-gram.
      guard (least - 1) * step < words.count else { return }
      for start in words.indices {
        var node = 0
        var length = 1
        for place in stride(from: start, to: words.endIndex, by: step) {
          guard length <= lengths.upperBound, let next = tree.child(of: node, words[place]) else { break }
          node = next
          if length >= least { for term in tree.terms(at: node) { found(term) } }
          length += 1
        }
      }
    }
  }

  private func result(_ shape: Shape) throws(HostOperationError) -> Shape {
    guard shape.rank <= 2 else {
      throw refused(0, "expected [C] or [N, C], got [\(shape)]", remedy: "give a list of words, or several")
    }
    let result = Shape(shape.rank == 2 ? [shape[0], columns] : [columns])
    guard StringTensor.takes(result) else {
      throw refused(0, "[\(result)] counts are more than \(StringTensor.countLimit)", remedy: "give fewer lists")
    }
    return result
  }
}

/// A prefix tree of terms by their words.
private struct TermTree: Hashable, Sendable {
  private struct Edge: Hashable, Sendable {
    let node: Int
    let word: Int
  }

  private var edges: [Edge: Int] = [:]
  /// For each node, the terms that end there.
  private var terms: [[Int]] = [[]]

  init(_ words: [[Int]]) {
    for (term, words) in words.enumerated() {
      var node = 0
      for word in words {
        let edge = Edge(node: node, word: word)
        if let next = edges[edge] {
          node = next
        } else {
          node = terms.count
          edges[edge] = node
          terms.append([])
        }
      }
      terms[node].append(term)
    }
  }

  func child(of node: Int, _ word: Int) -> Int? { edges[Edge(node: node, word: word)] }
  func terms(at node: Int) -> [Int] { terms[node] }
}
