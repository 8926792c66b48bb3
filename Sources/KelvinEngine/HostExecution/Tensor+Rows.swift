import KelvinGraph

extension Tensor {
  /// Returns the slice at an index along an axis, without that axis.
  func slice(at place: Int, along axis: Int) -> Tensor {
    let row = TensorType(type.scalar, Shape(shape.dimensions.without(axis)))
    let runs = RowRuns(type, along: axis)
    return Tensor(
      row,
      Bytes(count: row.byteCount) { memory in
        bytes.withUnsafeBytes { whole in
          runs.forEach(at: place) { inRow, inWhole in
            UnsafeMutableRawBufferPointer(rebasing: memory[inRow...])
              .copyMemory(from: UnsafeRawBufferPointer(rebasing: whole[inWhole..<(inWhole + runs.byteCount)]))
          }
        }
      })
  }

  /// Joins tensors of one type as slices along a new axis, in order.
  init(rows: [Tensor], of row: TensorType, along axis: Int) {
    var sizes = row.shape.dimensions
    sizes.insert(rows.count, at: axis)
    let type = TensorType(row.scalar, Shape(sizes))
    let runs = RowRuns(type, along: axis)
    self.init(
      type,
      Bytes(count: type.byteCount) { memory in
        for (place, row) in rows.enumerated() {
          row.bytes.withUnsafeBytes { row in
            runs.forEach(at: place) { inRow, inWhole in
              UnsafeMutableRawBufferPointer(rebasing: memory[inWhole...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: row[inRow..<(inRow + runs.byteCount)]))
            }
          }
        }
      })
  }
}

/// The contiguous byte runs of a slice along an axis of a tensor.
private struct RowRuns {
  /// The bytes of one run.
  let byteCount: Int
  private let runs: Int
  private let rows: Int

  init(_ type: TensorType, along axis: Int) {
    let sizes = type.shape.dimensions
    byteCount = sizes[(axis + 1)...].reduce(type.scalar.byteCount, *)
    runs = sizes[..<axis].reduce(1, *)
    rows = sizes[axis]
  }

  /// - Parameter visit: receives the offset of a run in the slice and in the tensor.
  func forEach(at place: Int, _ visit: (_ inRow: Int, _ inWhole: Int) -> Void) {
    guard byteCount > 0 else { return }
    for run in 0..<runs { visit(run * byteCount, (run * rows + place) * byteCount) }
  }
}

extension [Int] {
  fileprivate func without(_ index: Int) -> [Int] { Array(self[..<index] + self[(index + 1)...]) }
}
