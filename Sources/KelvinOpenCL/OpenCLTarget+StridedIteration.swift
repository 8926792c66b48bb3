internal import KelvinGPU

extension OpenCLTarget {
  /// Returns the dispatch of a kernel that iterates over operands. Its parameters are the sizes of rows, then
  /// `numbers`, then each operand's step in a row, then the sizes of the other axes and each operand's strides along
  /// them.
  ///
  /// - Parameter step: the least number of elements of a row that an item processes.
  func iterating(_ iteration: StridedIteration, _ kernel: KernelName, _ numbers: [Int], step: Int = 1)
    -> KernelDispatch<KernelName>
  {
    let outer = iteration.axes.dropLast()
    let row = iteration.axes[iteration.axes.count - 1]
    let rowCount = outer.reduce(1) { $0 * $1.size }
    let missing = StridedIteration.limit - iteration.axes.count
    let rows = max(tuning.run / max(row.size, 1), 1)
    let run = max(tuning.run, step)
    let lists =
      row.strides + Array(repeating: 1, count: missing) + outer.map(\.size)
      + row.strides.indices.flatMap { operand in Array(repeating: 0, count: missing) + outer.map { $0.strides[operand] }
      }
    return call(
      kernel, Parameters([rowCount, row.size, rows, run] + numbers + lists), items: pieces(rowCount, of: rows),
      pieces(row.size, of: run))
  }
}
