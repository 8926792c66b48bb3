internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func layerNormalization(_ op: LayerNormalization, _ groups: RowGroups, _ pass: RowPass, inputs: Int)
    -> KernelDispatch<KernelName>
  {
    let operands = [inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0]
    guard lineGroup == nil else {
      return sharing(groups, "normalize", makesParts: pass == .statistics) {
        $0.followed(by: operands).floats(op.epsilon)
      }
    }
    let areRows = groups.lines.inner == 1
    return call(
      KernelName(
        program: "layer_normalization", function: areRows ? "layer_normalization" : "layer_normalization_lanes"),
      Parameters([groups.lines.length] + operands).floats(op.epsilon),
      items: groups.lines.length == 0 ? 0 : groups.lines.outer)
  }
}
