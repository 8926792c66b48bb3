import KelvinImport

/// The mappers of all supported layers of a NeuralNetwork.
let layerMappers: [LayerMapper] = families.flatMap { $0 } + others

private let families: [[LayerMapper]] = [
  LayerMapper.activations, LayerMapper.elementwise, LayerMapper.normalizations, LayerMapper.reductions,
  LayerMapper.logic, LayerMapper.indexing, LayerMapper.shapes, LayerMapper.joining, LayerMapper.volumes,
  LayerMapper.recurrences, LayerMapper.random,
]

private let others: [LayerMapper] = [
  .argMax,
  .argMin,
  .argSort,
  .batchedMatmul,
  .concat,
  .convolution,
  .crop,
  .cropResize,
  .cumSum,
  .embedding,
  .embeddingND,
  .flatten,
  .innerProduct,
  .loadConstant,
  .nonMaximumSuppression,
  .padding,
  .permute,
  .pooling,
  .reduce,
  .reorganizeData,
  .reshape,
  .reshapeStatic,
  .resizeBilinear,
  .sequenceRepeat,
  .slice,
  .split,
  .topK,
  .unary,
  .upsample,
]
