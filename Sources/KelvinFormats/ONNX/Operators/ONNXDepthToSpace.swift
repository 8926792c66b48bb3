import KelvinGraph

extension ONNXMapper {
  static let depthToSpace = ONNXMapper("DepthToSpace") { c in
    let x = try c.input(0)
    let isOuter = c.text("mode", default: "DCR") == "DCR"
    return [try c.emitter.depthToSpace(x, block: c.integer("blocksize", default: 0), blockIsOuter: isOuter)]
  }

  static let spaceToDepth = ONNXMapper("SpaceToDepth") { c in
    let x = try c.input(0)
    return [try c.emitter.spaceToDepth(x, block: c.integer("blocksize", default: 0))]
  }
}
