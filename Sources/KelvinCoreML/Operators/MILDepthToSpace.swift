import KelvinGraph
import KelvinImport

extension MILMapper {
  static let depthToSpace = MILMapper("depth_to_space") { operation, scope in
    let x = try operation.value("x", scope)
    let block = try operation.required(try operation.integer("block_size", scope), "block_size", scope)
    return try scope.emitter.depthToSpace(x, block: block, blockIsOuter: true)
  }

  static let pixelShuffle = MILMapper("pixel_shuffle") { operation, scope in
    let x = try operation.value("x", scope)
    let block = try operation.required(try operation.integer("upscale_factor", scope), "upscale_factor", scope)
    return try scope.emitter.depthToSpace(x, block: block, blockIsOuter: false)
  }

  static let spaceToDepth = MILMapper("space_to_depth") { operation, scope in
    let x = try operation.value("x", scope)
    let block = try operation.required(try operation.integer("block_size", scope), "block_size", scope)
    return try scope.emitter.spaceToDepth(x, block: block)
  }
}
