package import KelvinGraph

/// The numbers that are not greater than 0, and those that are; 0 in place of the others (`NegPos` of
/// onnxruntime-extensions).
package struct SignedParts: SlotOperation {
  package static let name = "signed_parts"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [inputs[0], inputs[0]] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try tensor(0, inputs)
    let floats = tensor.floats
    return [
      .tensor(Tensor(floats.map { $0 > 0 ? 0 : $0 }, tensor.shape)),
      .tensor(Tensor(floats.map { $0 > 0 ? $0 : 0 }, tensor.shape)),
    ]
  }
}

/// The inverse of a square matrix (`Inverse` of onnxruntime-extensions), by elimination with pivots in float64.
///
/// Reference: Golub and Van Loan, "Matrix Computations" (2013), section 3.4.
package struct MatrixInverse: SlotOperation {
  package static let name = "matrix_inverse"
  package let slots: HostSlots
  /// The greatest number of rows.
  private static let limit = 4096

  package init(_ slots: HostSlots) { self.slots = slots }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [inputs[0]] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try tensor(0, inputs)
    guard tensor.shape.rank == 2, tensor.shape[0] == tensor.shape[1], tensor.shape[0] <= Self.limit else {
      throw refused(0, "expected a square matrix of at most \(Self.limit) rows, got \(tensor.type)")
    }
    let size = tensor.shape[0]
    let values = tensor.doubles
    var rows = (0..<size).map { row in
      Array(values[row * size..<(row + 1) * size]) + (0..<size).map { $0 == row ? 1 : 0 }
    }
    for column in 0..<size {
      let pivot = (column..<size).max { rows[$0][column].magnitude < rows[$1][column].magnitude } ?? column
      rows.swapAt(column, pivot)
      guard rows[column][column] != 0 else {
        throw refused(0, "the matrix has no inverse", remedy: "give a matrix of full rank")
      }
      let scale = rows[column][column]
      rows[column] = rows[column].map { $0 / scale }
      for row in 0..<size where row != column && rows[row][column] != 0 {
        let factor = rows[row][column]
        for index in column..<2 * size { rows[row][index] -= factor * rows[column][index] }
      }
    }
    return [.tensor(Tensor(rows.flatMap { $0[size...].map { Float($0) } }, tensor.shape))]
  }
}
