import KelvinImport

/// The mappers of all supported ONNX operators.
let onnxMappers: [ONNXMapper] = [
  ONNXMapper.elementwise, ONNXMapper.activations, ONNXMapper.experimental, ONNXMapper.reductions, ONNXMapper.softmaxes,
  ONNXMapper.products,
  ONNXMapper.windows, ONNXMapper.normalizations, ONNXMapper.layout, ONNXMapper.constants, ONNXMapper.indexing,
  ONNXMapper.placing, ONNXMapper.counting, ONNXMapper.sampling, ONNXMapper.resizing, ONNXMapper.recurrences,
  ONNXMapper.rotations, ONNXMapper.losses, ONNXMapper.random, ONNXMapper.signals, ONNXMapper.quantization,
  ONNXMapper.classical, ONNXMapper.microsoft, ONNXMapper.microsoftNormalization, ONNXMapper.microsoftActivations,
  ONNXMapper.microsoftProducts, ONNXMapper.microsoftAttention, ONNXMapper.microsoftWeights,
  ONNXMapper.microsoftQuantization, ONNXMapper.microsoftNumerics,
  ONNXMapper.microsoftRelativePositions, ONNXMapper.microsoftExperts, others,
].flatMap { $0 }

/// The mappers that have a file of their own.
private let others: [ONNXMapper] = [
  .attention, .causalConvWithState, .deformConv, .determinant, .groupQueryAttention, .linearAttention, .maxRoiPool,
]
