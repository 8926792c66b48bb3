/// Rows of equal width, in double precision.
package struct NumberRows: Hashable, Sendable {
  /// The numbers, row after row.
  package let numbers: [Double]
  package let count: Int
  package let width: Int

  /// Creates rows.
  ///
  /// - Precondition: There are as many numbers as the rows have.
  package init(_ numbers: [Double], count: Int, width: Int) {
    precondition(numbers.count == count * width, "\(numbers.count) numbers for \(count) rows of \(width)")
    self.numbers = numbers
    self.count = count
    self.width = width
  }

  package subscript(row: Int) -> ArraySlice<Double> { numbers[row * width..<(row + 1) * width] }
}

/// A function from a row of numbers to a row of results: a classical model, in double precision.
package protocol RowFunction: Hashable, Sendable {
  /// The name in snake case, unique among host operations.
  static var name: String { get }
  /// The allowed widths of a row.
  var widths: ClosedRange<Int> { get }

  /// Returns the number of results for a row of the given width.
  func resultCount(of width: Int) -> Int

  /// Returns the results of every row, row after row.
  ///
  /// - Precondition: The rows have an allowed width.
  func results(_ rows: NumberRows) -> [Double]
}

/// A classifier of rows of numbers: it gives a score for each class, and the winning class.
package protocol RowClassifier: Hashable, Sendable {
  /// The name in snake case, unique among host operations.
  static var name: String { get }
  /// The allowed widths of a row.
  var widths: ClosedRange<Int> { get }
  /// The number of scores of a row.
  var scoreCount: Int { get }

  /// Returns the index of each row's class among the labels, and the scores, row after row.
  ///
  /// - Precondition: The rows have an allowed width.
  func classify(_ rows: NumberRows) -> (winners: [Int], scores: [Double])
}
