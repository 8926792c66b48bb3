import KelvinImport

/// The mappers of all supported MIL operations. `const` and `classify` are part of the program's structure.
let milMappers: [MILMapper] = families.flatMap { $0 } + others

private let families: [[MILMapper]] = [
  MILMapper.unaryFunctions, MILMapper.activations, MILMapper.arithmetic, MILMapper.reductions, MILMapper.comparisons,
  MILMapper.indexing, MILMapper.rearranging, MILMapper.resizing, MILMapper.recurrences, MILMapper.sampling,
  MILMapper.random, MILMapper.lists,
]

private let others: [MILMapper] = [
  .avgPool,
  .batchNorm,
  .cast,
  .concat,
  .conv,
  .convTranspose, .convQuantized,
  .depthToSpace,
  .dequantize,
  .einsum,
  .expandDims,
  .fill,
  .flatten2d,
  .identity,
  .instanceNorm,
  .l2Norm,
  .l2Pool,
  .layerNorm,
  .linear,
  .localResponseNorm,
  .matmul,
  .maxPool,
  .nonMaximumSuppression,
  .nonZero,
  .pad,
  .pixelShuffle,
  .quantize,
  .reshape,
  .scaledDotProductAttention,
  .shape,
  .sliceByIndex,
  .sliceBySize,
  .sliceUpdate,
  .softmax,
  .spaceToDepth,
  .split,
  .squeeze,
  .stack,
  .tile,
  .transpose,
]
