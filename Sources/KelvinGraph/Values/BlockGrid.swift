/// The blocks into which parameters divide a tensor: along every axis as many as the size of the parameters.
///
/// Contiguous elements of one block form a run; weights are expanded run by run.
struct BlockGrid {
  /// The number of elements in a run.
  let runLength: Int
  let count: Int
  /// For each axis up to the last divided one: the number of coordinate steps, the number of steps per block, and the
  /// stride of blocks. The steps of the last of these axes are whole blocks.
  private let axes: [(steps: Int, perBlock: Int, stride: Int)]

  /// Creates the grid.
  ///
  /// - Returns: Nil if the ranks differ or a size is not a multiple of the number of blocks.
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

  /// Calls `body` with every run, or part of a run, in memory order: the index of the first element, the number of
  /// elements, and the block.
  ///
  /// - Parameter window: No part crosses a multiple of this number of elements.
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
