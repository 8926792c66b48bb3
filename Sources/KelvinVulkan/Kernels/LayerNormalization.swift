import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func layerNormalization(_ op: LayerNormalization, _ groups: RowGroups, _ pass: RowPass, inputs: Int)
    -> KernelDispatch<VulkanProgram>
  {
    let makesParts = pass == .statistics
    let lines = groups.lines
    // Vectors of a row, or of four adjacent rows in a block.
    let vectors = lines.inner == 1 ? lines.length / 4 : lines.length
    let areWhole = lines.inner == 1 ? lines.length % 4 == 0 : lines.inner == 4
    let rows = lines.outer
    // There must be enough rows to fill a register, and loops must stay below the limits of some drivers.
    if traits.usesShuffles, rows >= traits.lanes, areWhole, (1...1 << 14).contains(vectors) {
      let group = traits.tileGroup
      let (x, z) = folded((rows + group - 1) / group)
      return call(
        traits.variant("normalize_rows"), [.float4, .float4, .float4, .wide4], group: group,
        specializationConstants: [traits.lanes],
        Parameters(rows, vectors, lines.inner == 1 ? 1 : 0, inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0).floats(op.epsilon),
        groups: [x, 1, z])
    }
    return dispatch(
      GPUKernel(
        "normalize", reads: makesParts ? [.floats] : [.floats, .floats, .floats, .wideFloats],
        Parameters(inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0).floats(op.epsilon), sharing: groups,
        makesParts: makesParts))
  }
}
