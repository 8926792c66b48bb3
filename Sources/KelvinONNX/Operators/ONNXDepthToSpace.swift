import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let depthToSpace = ONNXMapper("DepthToSpace") { c in
    let x = try c.input(0)
    let isOuter = c.text("mode", default: "DCR") == "DCR"
    return [try c.emitter.depthToSpace(x, block: c.integer("blocksize", default: 0), blockIsOuter: isOuter)]
  }

  static let spaceToDepth = ONNXMapper("SpaceToDepth") { c in
    let x = try c.input(0)
    let block = c.integer("blocksize", default: 0)
    let isOuter = c.text("mode", default: "DCR") == "DCR"
    return [isOuter ? try c.emitter.spaceToDepth(x, block: block) : try c.emitter.pixelUnshuffle(x, block: block)]
  }
}
