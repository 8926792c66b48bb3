import KelvinImport

/// The mappers of all supported layers of a NeuralNetwork.
let layerMappers: [LayerMapper] = [
  LayerMapper.activations, LayerMapper.elementwise, LayerMapper.logic, LayerMapper.products, LayerMapper.windows,
  LayerMapper.normalizations, LayerMapper.reductions, LayerMapper.indexing, LayerMapper.images,
  LayerMapper.planeShapes, LayerMapper.shapes, LayerMapper.joining, LayerMapper.recurrences, LayerMapper.random,
].flatMap { $0 }
