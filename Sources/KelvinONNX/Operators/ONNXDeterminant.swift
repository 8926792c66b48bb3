import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// The determinant of square matrices in the last two axes, by Laplace's expansion along rows. It is exact except for
  /// rounding; the number of products grows as 2^size.
  static let determinant = ONNXMapper("Det") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    guard shape.rank >= 2, shape[shape.rank - 1] == shape[shape.rank - 2] else {
      throw c.emitter.invalid("expected square matrices, got \(c.emitter.type(x))")
    }
    let (size, outer) = (shape[shape.rank - 1], Array(shape.dimensions.dropLast(2)))
    guard (1...8).contains(size) else { throw c.unsupported("matrices of \(size) rows, expected 1 to 8") }
    /// Returns the element of every matrix at a row and a column.
    func element(_ row: Int, _ column: Int) throws -> ValueID {
      let line = Slice(
        starts: outer.map { _ in 0 } + [row, column], counts: outer + [1, 1],
        steps: [Int](repeating: 1, count: shape.rank))
      return try c.emitter.reshape(
        c.emitter.add(line, x, step: "element_\(row)_\(column)"), Shape(outer), step: "elements_\(row)_\(column)")
    }
    let elements = try (0..<size).map { row in try (0..<size).map { try element(row, $0) } }
    // The minors of the rows from a given one on, by the columns that they keep.
    var minors: [[Int]: ValueID] = [:]
    for column in 0..<size { minors[[column]] = elements[size - 1][column] }
    for row in (0..<size - 1).reversed() {
      var larger: [[Int]: ValueID] = [:]
      for columns in subsets(of: size, count: size - row) {
        var sum: ValueID?
        for (place, column) in columns.enumerated() {
          guard let minor = minors[columns.filter { $0 != column }] else { continue }
          let step = "minor_\(row)_\(columns.map(String.init).joined(separator: "_"))"
          let term = try c.emitter.binary(.multiply, elements[row][column], minor, step: "\(step)/term_\(place)")
          sum = try sum.map { try c.emitter.binary(place % 2 == 0 ? .add : .subtract, $0, term, step: step) } ?? term
        }
        larger[columns] = sum
      }
      minors = larger
    }
    guard let result = minors[Array(0..<size)] else { return [] }
    return [try c.emitter.reshape(result, Shape(outer))]
  }

  /// Returns the ascending lists of `count` of the first `size` numbers.
  private static func subsets(of size: Int, count: Int) -> [[Int]] {
    (0..<(1 << size)).filter { $0.nonzeroBitCount == count }.map { bits in (0..<size).filter { bits >> $0 & 1 == 1 } }
  }
}
