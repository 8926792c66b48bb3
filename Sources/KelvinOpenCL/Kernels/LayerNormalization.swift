internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func layerNormalization(_ op: LayerNormalization, rows: Int, length: Int, inputs: Int) -> Call<KernelName> {
    call(
      KernelName(program: "layer_normalization", function: "layer_normalization"),
      Parameters(length, inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0).floats(op.epsilon), items: rows * tuning.group)
  }
}
