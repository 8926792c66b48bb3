package import KelvinGraph

extension Emitter {
  /// Moves channels into blocks of pixels: `[N, C·b², H, W]` to `[N, C, H·b, W·b]`. The position in the block is the
  /// outer or the inner part of a channel's index.
  package func depthToSpace(_ x: ValueID, block: Int, blockIsOuter: Bool) throws -> ValueID {
    let shape = shape(x)
    guard shape.rank == 4, (1..<(1 << 15)).contains(block), shape[1] % (block * block) == 0 else {
      throw invalid("\(type(x)) does not divide into blocks of \(block)")
    }
    let depth = shape[1] / (block * block)
    let split: Shape =
      blockIsOuter
      ? [shape[0], block, block, depth, shape[2], shape[3]] : [shape[0], depth, block, block, shape[2], shape[3]]
    let parts = try reshape(x, split, step: "blocks")
    let moved = try transpose(parts, blockIsOuter ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3], step: "moved")
    return try reshape(moved, [shape[0], depth, shape[2] * block, shape[3] * block])
  }

  /// Moves blocks of pixels into channels: `[N, C, H·b, W·b]` to `[N, b²·C, H, W]`.
  package func spaceToDepth(_ x: ValueID, block: Int) throws -> ValueID {
    let shape = shape(x)
    guard shape.rank == 4, (1..<(1 << 15)).contains(block), shape[2] % block == 0, shape[3] % block == 0 else {
      throw invalid("\(type(x)) does not divide into blocks of \(block)")
    }
    let (height, width) = (shape[2] / block, shape[3] / block)
    let parts = try reshape(x, [shape[0], shape[1], height, block, width, block], step: "blocks")
    let moved = try transpose(parts, [0, 3, 5, 1, 2, 4], step: "moved")
    return try reshape(moved, [shape[0], shape[1] * block * block, height, width])
  }

  /// Moves blocks of pixels into channels, with the position in the block innermost: `[N, C, H·b, W·b]` to
  /// `[N, C·b², H, W]`.
  package func pixelUnshuffle(_ x: ValueID, block: Int) throws -> ValueID {
    let shape = shape(x)
    guard shape.rank == 4, (1..<(1 << 15)).contains(block), shape[2] % block == 0, shape[3] % block == 0 else {
      throw invalid("\(type(x)) does not divide into blocks of \(block)")
    }
    let (height, width) = (shape[2] / block, shape[3] / block)
    let parts = try reshape(x, [shape[0], shape[1], height, block, width, block], step: "blocks")
    let moved = try transpose(parts, [0, 1, 3, 5, 2, 4], step: "moved")
    return try reshape(moved, [shape[0], shape[1] * block * block, height, width])
  }

  /// Moves blocks of pixels into the batch, with the position in the block outermost: `[N, C, H·r, W·c]` to
  /// `[r·c·N, C, H, W]`.
  package func spaceToBatch(_ x: ValueID, block: [Int]) throws -> ValueID {
    let shape = shape(x)
    guard shape.rank == 4, block.count == 2, block.allSatisfy({ (1..<(1 << 15)).contains($0) }),
      shape[2] % block[0] == 0, shape[3] % block[1] == 0
    else { throw invalid("\(type(x)) does not divide into blocks of \(block)") }
    let (height, width) = (shape[2] / block[0], shape[3] / block[1])
    let parts = try reshape(x, [shape[0], shape[1], height, block[0], width, block[1]], step: "blocks")
    let moved = try transpose(parts, [3, 5, 0, 1, 2, 4], step: "moved")
    return try reshape(moved, [block[0] * block[1] * shape[0], shape[1], height, width])
  }

  /// The inverse of `spaceToBatch`.
  package func batchToSpace(_ x: ValueID, block: [Int], step: String?) throws -> ValueID {
    let shape = shape(x)
    guard shape.rank == 4, block.count == 2, block.allSatisfy({ (1..<(1 << 15)).contains($0) }),
      shape[0] % (block[0] * block[1]) == 0
    else { throw invalid("the batch of \(type(x)) does not divide into blocks of \(block)") }
    let batch = shape[0] / (block[0] * block[1])
    let parts = try reshape(x, [block[0], block[1], batch, shape[1], shape[2], shape[3]], step: "blocks")
    let moved = try transpose(parts, [2, 3, 4, 0, 5, 1], step: "moved")
    return try reshape(moved, [batch, shape[1], shape[2] * block[0], shape[3] * block[1]], step: step)
  }
}
