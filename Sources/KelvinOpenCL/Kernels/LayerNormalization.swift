internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func layerNormalization(_ op: LayerNormalization, _ groups: RowGroups, _ pass: RowPass, inputs: Int)
    -> KernelDispatch<KernelName>
  {
    let operands = [inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0]
    guard lineGroup == nil else {
      let makesParts = pass == .statistics
      return dispatch(
        GPUKernel(
          "normalize", reads: makesParts ? [.floats] : [.floats, .floats, .floats, .wideFloats],
          Parameters(operands).floats(op.epsilon), sharing: groups, makesParts: makesParts))
    }
    let areRows = groups.lines.inner == 1
    return call(
      KernelName(
        program: "layer_normalization", function: areRows ? "layer_normalization" : "layer_normalization_lanes"),
      Parameters([groups.lines.length] + operands).floats(op.epsilon),
      items: groups.lines.length == 0 ? 0 : groups.lines.outer)
  }
}
