internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func layerNormalization(_ op: LayerNormalization, _ groups: LineGroups, _ pass: LinePass, inputs: Int)
    -> Call<KernelName>
  {
    let operands = [inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0]
    guard lineGroup == nil else {
      return sharing(groups, "normalize", makesParts: pass == .statistics) {
        $0.followed(by: operands).floats(op.epsilon)
      }
    }
    return call(
      KernelName(program: "layer_normalization", function: "layer_normalization"),
      Parameters([groups.lines.length] + operands).floats(op.epsilon), items: groups.count)
  }
}
