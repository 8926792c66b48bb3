import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinImages
import KelvinRuntime

/// A model seen as a function from one picture to a class for each of its pixels.
struct PictureSegmenter {
  let classes: SegmentationClasses
  /// The model's function as pictures are given to it.
  let function: Function
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
    guard let id = graph.inputs.first(where: { [inputName] in graph[$0].name == inputName }),
      graph[id].type.shape.rank == 4
    else { throw InputError("input '\(inputName)' is not the tensor of a picture") }
    input = (graph[id].type.shape[3], graph[id].type.shape[2])
    output = try SegmentationOutput(of: function, model.shown.part, graph, named: name, input: input)
    self.function = function
    classes = SegmentationClasses(model.program.metadata, labels: labels)
  }

  /// The class of every pixel of a picture, as it is seen upright.
  ///
  /// - Parameter predictor: of `function`.
  /// - Throws: `InputError`, `ModelError`.
  func segment(_ picture: DecodedImage, cropAndScale: ImageCropAndScale, by predictor: Predictor) throws -> LabelMap {
    let value = FeatureValue(image: picture.pixels, orientation: picture.orientation, cropAndScale: cropAndScale)
    let outputs = try predictor.run(DictionaryFeatureProvider(dictionary: [inputName: value])).features
    guard let tensor = outputs[output.name]?.multiArrayValue?.tensor else {
      throw InputError("the model computes no array '\(output.name)'")
    }
    return LabelMap(
      try output.classes(tensor), width: output.width, height: output.height, onto: picture, input: input,
      cropAndScale)
  }
}
