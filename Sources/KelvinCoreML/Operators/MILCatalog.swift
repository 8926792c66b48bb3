import KelvinImport

/// The mappers of all supported MIL operations. `const` and `classify` are part of the program's structure.
let milMappers: [MILMapper] = families.flatMap { $0 } + [.nonMaximumSuppression]

private let families: [[MILMapper]] = [
  MILMapper.unaryFunctions, MILMapper.activations, MILMapper.binaryFunctions, MILMapper.reductions, MILMapper.indexing,
  MILMapper.layout, MILMapper.rearranging, MILMapper.slices, MILMapper.products, MILMapper.convolutions,
  MILMapper.normalizations, MILMapper.quantization, MILMapper.resizing, MILMapper.sampling, MILMapper.recurrences,
  MILMapper.random, MILMapper.lists,
]
