internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func localResponseNormalization(_ op: LocalResponseNormalization, _ shape: BlockedShape) -> KernelDispatch<KernelName>
  {
    let run = max(tuning.run / lanes, 1)
    let reach = [(op.size - 1) / 2, op.size / 2].map { min($0, shape.channels) }
    return call(
      KernelName(program: "local_response_normalization", function: "local_response_normalization"),
      Parameters([shape.channels, shape.blocks, shape.area, run] + reach).floats(
        op.k, op.alpha / Float(op.size), op.beta), items: pieces(shape.area, of: run), shape.batch * shape.blocks)
  }
}
