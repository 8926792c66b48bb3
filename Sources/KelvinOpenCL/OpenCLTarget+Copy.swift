internal import KelvinGPU

extension OpenCLTarget {
  func copy(_ copy: StridedCopy, byteCount: Int) -> KernelDispatch<KernelName> {
    let outer = copy.axes.dropLast()
    let row = copy.axes[copy.axes.count - 1]
    let rowCount = outer.reduce(1) { $0 * $1.size }
    let missing = copyRank - copy.axes.count
    func list(_ value: (StridedCopy.Axis) -> Int, filler: Int) -> [Int] {
      Array(repeating: filler, count: missing) + outer.map(value)
    }
    let rows = max(tuning.run / max(row.size, 1), 1)
    let run = run(of: row.size)
    let numbers =
      [rowCount, row.size, rows, run, copy.sourceOffset, copy.targetOffset, row.source, row.target]
      + list(\.size, filler: 1) + list(\.source, filler: 0) + list(\.target, filler: 0)
    return call(
      moving("copy", byteCount: byteCount, function: "copy"),
      Parameters(numbers), items: pieces(rowCount, of: rows), pieces(row.size, of: run))
  }
}
