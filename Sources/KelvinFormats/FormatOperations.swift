/// What models of each format may consist of, by the format's own names, in their order.
package enum FormatOperations {
  #if ONNX
  /// ONNX operators, with their domain where it is not the standard one.
  package static let onnx: [String] =
    Set(ONNXMapper.byName.keys).union(ONNXControl.byName.keys).union(ONNXSequence.byName.keys)
    .union(ONNXHostMapper.byName.keys).union(ONNXSpelling.byName.keys).sorted()
  #else
  package static let onnx: [String] = []
  #endif

  #if CoreML
  /// Operations of ML Programs, without the versions in which they are defined. `const` and `classify` are part of a
  /// program's structure.
  package static let mlProgram: [String] =
    (["const", "classify"] + MILMapper.byName.keys + MILControl.byName.keys + MILConstexpr.byName.keys).sorted()

  /// Layers of neural networks.
  package static let neuralNetwork: [String] =
    (LayerMapper.byName.keys + NetworkLayer.controlLayers).compactMap { NetworkSchema.layerTypes[$0] }.sorted()

  /// Kinds of Core ML models.
  package static let models: [String] =
    CoreMLSchema.modelTypes.filter { StageReader.isKnown($0.key) }.values.sorted()
  #else
  package static let mlProgram: [String] = []
  package static let neuralNetwork: [String] = []
  package static let models: [String] = []
  #endif
}
