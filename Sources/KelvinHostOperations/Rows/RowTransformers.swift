/// `(x + shift) · scale`; each is one number or one per element.
package struct Scaling: RowFunction {
  package static let name = "scaling"
  package let shift: [Double]
  package let scale: [Double]

  /// Creates the function.
  ///
  /// - Precondition: Each list has at least one number; lists of several numbers have equal length.
  package init(shift: [Double], scale: [Double]) {
    self.shift = shift
    self.scale = scale
  }

  package var widths: ClosedRange<Int> { commonWidths(shift, scale) }
  package func resultCount(of width: Int) -> Int { width }

  package func results(_ rows: NumberRows) -> [Double] {
    rows.mapElements { ($0 + shift.at($1)) * scale.at($1) }
  }
}

/// Replaces a number, possibly not-a-number, by others: one for all elements, or one per element.
package struct Imputation: RowFunction {
  package static let name = "imputation"
  package let replaced: Double
  package let imputed: [Double]

  /// Creates the function.
  ///
  /// - Precondition: `imputed` has at least one number.
  package init(of replaced: Double, by imputed: [Double]) {
    self.replaced = replaced
    self.imputed = imputed
  }

  package var widths: ClosedRange<Int> { commonWidths(imputed) }
  package func resultCount(of width: Int) -> Int { width }

  package func results(_ rows: NumberRows) -> [Double] {
    rows.mapElements { ($0 == replaced || $0.isNaN && replaced.isNaN) ? imputed.at($1) : $0 }
  }
}

/// Divides a row by its largest number or magnitude, its sum of magnitudes or its Euclidean norm, unless that is 0.
package struct Normalization: RowFunction {
  package static let name = "normalization"

  package enum Norm: Hashable, Sendable { case largest, largestMagnitude, magnitudes, length }

  package let norm: Norm

  package init(_ norm: Norm) { self.norm = norm }

  package var widths: ClosedRange<Int> { 0...Int.max }
  package func resultCount(of width: Int) -> Int { width }

  package func results(_ rows: NumberRows) -> [Double] {
    (0..<rows.count).flatMap { row in
      let row = rows[row]
      let size =
        switch norm {
        case .largest: row.max() ?? 0
        case .largestMagnitude: row.reduce(0) { max($0, $1.magnitude) }
        case .magnitudes: row.reduce(0) { $0 + $1.magnitude }
        case .length: row.reduce(0) { $0 + $1 * $1 }.squareRoot()
        }
      return size == 0 ? Array(row) : row.map { $0 / size }
    }
  }
}

/// Picks elements of a row by their indices.
package struct ElementChoice: RowFunction {
  package static let name = "element_choice"
  package let places: [Int]

  /// Creates the function.
  ///
  /// - Precondition: No index is negative.
  package init(_ places: [Int]) { self.places = places }

  package var widths: ClosedRange<Int> { (places.max() ?? -1) + 1...Int.max }
  package func resultCount(of width: Int) -> Int { places.count }

  package func results(_ rows: NumberRows) -> [Double] {
    (0..<rows.count).flatMap { row in places.map { rows.numbers[row * rows.width + $0] } }
  }
}

/// Returns the row itself, which may be joined from several inputs.
package struct Joining: RowFunction {
  package static let name = "joining"
  package let width: Int

  package init(width: Int) { self.width = width }

  package var widths: ClosedRange<Int> { width...width }
  package func resultCount(of width: Int) -> Int { width }
  package func results(_ rows: NumberRows) -> [Double] { rows.numbers }
}

/// Returns the row widths that lists of one number, or of one per element, allow.
private func commonWidths(_ lists: [Double]...) -> ClosedRange<Int> {
  let width = lists.map(\.count).first { $0 != 1 }
  return width.map { $0...$0 } ?? 0...Int.max
}

extension [Double] {
  /// Returns the number for an element from a list that may have one number for all.
  fileprivate func at(_ element: Int) -> Double { count == 1 ? self[0] : self[element] }
}

extension NumberRows {
  /// Returns the elements of all rows, transformed.
  ///
  /// - Parameter change: Transforms an element, given its index in the row.
  fileprivate func mapElements(_ change: (Double, Int) -> Double) -> [Double] {
    (0..<count).flatMap { row in self[row].enumerated().map { change($1, $0) } }
  }
}
