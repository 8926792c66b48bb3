/// The blocks into which parameters divide a tensor: along every axis as many as the parameters have places there.
///
/// Elements of one block that follow each other in memory form a run; expansion works run by run.
struct BlockGrid {
  /// Elements in a run.
  let runLength: Int
  let count: Int
  /// For each axis up to the last one that is divided: how many steps a coordinate takes, how many steps a block has,
  /// and how far apart blocks lie. The last of these axes is stepped through in whole blocks.
  private let axes: [(steps: Int, perBlock: Int, stride: Int)]

  /// - Returns: nil where the ranks differ or a size is not a multiple of the number of blocks.
  init?(_ shape: Shape, blocks: Shape) {
    guard shape.rank == blocks.rank else { return nil }
    for (size, count) in zip(shape.dimensions, blocks.dimensions) where count < 1 || size % count != 0 { return nil }
    count = shape.count
    guard let last = blocks.dimensions.lastIndex(where: { $0 > 1 }), count > 0 else {
      runLength = max(count, 1)
      axes = []
      return
    }
    let perBlock = shape[last] / blocks[last]
    runLength = perBlock * shape.dimensions[(last + 1)...].reduce(1, *)
    let strides = blocks.strides
    axes = (0...last).map { axis in
      axis == last
        ? (blocks[axis], 1, strides[axis]) : (shape[axis], shape[axis] / blocks[axis], strides[axis])
    }
  }

  /// Calls `body` with every run, or part of one, in order of memory: the first element, how many, and the block.
  ///
  /// - Parameter window: no part crosses a multiple of this many elements.
  @inline(__always)
  func forEachRun(within window: Int = .max, _ body: (_ start: Int, _ count: Int, _ block: Int) -> Void) {
    var coordinates = [Int](repeating: 0, count: axes.count)
    var (start, block) = (0, 0)
    while start < count {
      var (place, left) = (start, min(runLength, count - start))
      while left > 0 {
        let part = min(left, window - place % window)
        body(place, part, block)
        place += part
        left -= part
      }
      start += runLength
      var axis = axes.count - 1
      while axis >= 0 {
        let (steps, perBlock, stride) = axes[axis]
        coordinates[axis] += 1
        if coordinates[axis] < steps {
          if coordinates[axis] % perBlock == 0 { block += stride }
          break
        }
        coordinates[axis] = 0
        block -= (steps / perBlock - 1) * stride
        axis -= 1
      }
    }
  }
}
