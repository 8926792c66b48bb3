import KelvinGraph

extension ONNXMapper {
  /// Moves channels into blocks of pixels; `DCR` takes the block as the outer part of the channels, `CRD` as the inner.
  static let depthToSpace = ONNXMapper("DepthToSpace") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    let block = c.integer("blocksize", default: 0)
    guard shape.rank == 4, (1..<(1 << 15)).contains(block), shape[1] % (block * block) == 0 else {
      throw c.emitter.invalid("\(c.emitter.type(x)) does not divide into blocks of \(block)")
    }
    let depth = shape[1] / (block * block)
    let isDCR = c.text("mode", default: "DCR") == "DCR"
    let split: Shape = isDCR
      ? [shape[0], block, block, depth, shape[2], shape[3]] : [shape[0], depth, block, block, shape[2], shape[3]]
    let parts = try c.emitter.reshape(x, split, step: "blocks")
    let moved = try c.emitter.transpose(parts, isDCR ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3], step: "moved")
    return [try c.emitter.reshape(moved, [shape[0], depth, shape[2] * block, shape[3] * block])]
  }

  static let spaceToDepth = ONNXMapper("SpaceToDepth") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    let block = c.integer("blocksize", default: 0)
    guard shape.rank == 4, (1..<(1 << 15)).contains(block), shape[2] % block == 0, shape[3] % block == 0 else {
      throw c.emitter.invalid("\(c.emitter.type(x)) does not divide into blocks of \(block)")
    }
    let (height, width) = (shape[2] / block, shape[3] / block)
    let parts = try c.emitter.reshape(x, [shape[0], shape[1], height, block, width, block], step: "blocks")
    let moved = try c.emitter.transpose(parts, [0, 3, 5, 1, 2, 4], step: "moved")
    return [try c.emitter.reshape(moved, [shape[0], shape[1] * block * block, height, width])]
  }
}
