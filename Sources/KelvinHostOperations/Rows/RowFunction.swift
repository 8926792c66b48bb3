/// Rows of as many numbers each, in double precision.
package struct NumberRows: Hashable, Sendable {
  /// Row after row.
  package let numbers: [Double]
  package let count: Int
  package let width: Int

  /// - Precondition: as many numbers as rows of the width have.
  package init(_ numbers: [Double], count: Int, width: Int) {
    precondition(numbers.count == count * width, "\(numbers.count) numbers for \(count) rows of \(width)")
    self.numbers = numbers
    self.count = count
    self.width = width
  }

  package subscript(row: Int) -> ArraySlice<Double> { numbers[row * width..<(row + 1) * width] }
}

/// What makes a row of results of a row of numbers: a classical model, in double precision.
package protocol RowFunction: Hashable, Sendable {
  /// In snake case, unique among steps.
  static var name: String { get }
  /// How many numbers a row may have.
  var widths: ClosedRange<Int> { get }

  /// How many results a row of so many numbers has.
  func resultCount(of width: Int) -> Int

  /// The results of every row, row after row.
  ///
  /// - Precondition: the rows have a width that it takes.
  func results(_ rows: NumberRows) -> [Double]
}

/// What finds for a row of numbers a score for each of its classes, and the class that wins.
package protocol RowClassifier: Hashable, Sendable {
  /// In snake case, unique among steps.
  static var name: String { get }
  /// How many numbers a row may have.
  var widths: ClosedRange<Int> { get }
  /// How many scores a row has.
  var scoreCount: Int { get }

  /// The place of each row's class among the labels, and the scores, row after row.
  ///
  /// - Precondition: the rows have a width that it takes.
  func classify(_ rows: NumberRows) -> (winners: [Int], scores: [Double])
}
