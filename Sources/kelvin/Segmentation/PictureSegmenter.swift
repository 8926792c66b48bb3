import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinImages
import KelvinRuntime

/// A model seen as a function from one picture to a class for each of its pixels.
struct PictureSegmenter {
  let classes: SegmentationClasses
  private let binding: FeatureBinding
  private let inputName: String
  private let input: (width: Int, height: Int)
  private let output: SegmentationOutput

  /// - Parameters:
  ///   - output: the output to take; nil for the only one that can be meant.
  ///   - labels: in place of the model's own.
  ///   - normalization: for a model whose input is a plain tensor.
  /// - Throws: `InputError` with the remedy where the model does not segment pictures.
  init(_ model: LoadedModel, output name: String?, labels: [String]?, normalization: Normalization?) throws {
    var function = model.function
    if let purpose = SegmentationClasses.purpose(model.program.metadata), purpose == "depthEstimator" {
      throw InputError("the model estimates depth; 'kelvin predict' writes its outputs")
    }
    let graph = model.context.graph
    inputName = try PictureInput.only(of: &function, graph, normalization)
    binding = FeatureBinding(function: function)
    let name = name
    guard let id = graph.inputs.first(where: { [inputName] in graph[$0].name == inputName }),
      graph[id].type.shape.rank == 4
    else { throw InputError("input '\(inputName)' is not the tensor of a picture") }
    input = (graph[id].type.shape[3], graph[id].type.shape[2])
    output = try SegmentationOutput(of: function, graph, named: name, input: input)
    classes = SegmentationClasses(model.program.metadata, labels: labels)
  }

  /// The class of every pixel of a picture, as it is seen upright.
  ///
  /// - Throws: `InputError`, `RuntimeError`, `ModelError`.
  func segment(_ picture: DecodedImage, cropAndScale: ImageCropAndScale, in session: Session) throws -> LabelMap {
    let value = FeatureValue(image: picture.pixels, orientation: picture.orientation, cropAndScale: cropAndScale)
    try binding.write(DictionaryFeatureProvider(dictionary: [inputName: value]), to: session)
    try session.run()
    let graph = session.model.graph
    let tensor = Tensor(
      graph[graph.outputs[output.index]].type, session.withOutput(output.index) { Bytes(copying: $0) })
    return LabelMap(
      try output.classes(tensor), width: output.width, height: output.height, onto: picture, input: input,
      cropAndScale)
  }
}
