package import Kelvin
package import KelvinEngine
package import KelvinGraph
package import KelvinRuntime

/// A model seen as a function from one image to a class for each of its pixels.
package struct ImageSegmenter: Sendable {
  let classes: SegmentationClasses
  /// The classes that answers are about; nil for all.
  var chosen: Set<Int>?
  /// The model's function as images are given to it.
  package let function: Function
  /// What the user should know: metadata that cannot be read.
  package var remarks: [String] { classes.remarks }
  private let inputName: String
  private let input: (width: Int, height: Int)
  private let output: SegmentationOutput

  /// - Parameters:
  ///   - output: the output to take; nil for the only one that can be meant.
  ///   - labels: in place of the model's own.
  ///   - colors: as `#RRGGBB`, in place of the model's own.
  ///   - normalization: for a model whose input is a plain tensor.
  /// - Throws: `VisionError` with the remedy where the model does not segment images.
  package init(
    _ model: LoadedModel, output name: String?, labels: [String]?, colors: [String]?,
    normalization: PixelNormalization?
  ) throws(VisionError) {
    var function = model.function
    if let purpose = SegmentationClasses.purpose(model.program.metadata), purpose == "depthEstimator" {
      throw .invalidModel("the model estimates depth")
    }
    let graph = model.context.graph
    inputName = try ImageInput.only(of: &function, graph, normalization).name
    guard let id = graph.inputs.first(where: { [inputName] in graph[$0].name == inputName }),
      graph[id].type.shape.rank == 4
    else { throw .invalidModel("input '\(inputName)' is not the tensor of an image") }
    input = (graph[id].type.shape[3], graph[id].type.shape[2])
    output = try SegmentationOutput(of: function, model.shown.part, graph, named: name, input: input)
    self.function = function
    classes = try SegmentationClasses(model.program.metadata, labels: labels, colors: colors)
  }

  /// The classes with one of these labels.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks.
  func indices(of labels: [String]) throws(VisionError) -> Set<Int> {
    try classes.indices(of: labels, count: output.classCount)
  }

  /// The class of every pixel of an image, as it is seen upright.
  ///
  /// - Parameters:
  ///   - predictor: of `function`.
  ///   - region: the part of the upright image that the model sees; nil for all.
  /// - Throws: `VisionError`.
  package func segment(
    _ image: PixelBuffer, _ orientation: ImageOrientation, region: PixelRect? = nil,
    _ cropAndScale: ImageCropAndScale,
    by predictor: Predictor, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> SegmentationObservation {
    let value = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale, cropRect: region)
    let outputs: DictionaryFeatureProvider
    do throws(ModelError) {
      let provider = DictionaryFeatureProvider(dictionary: [inputName: value])
      outputs = try predictor.run(provider, [:], cancellation).features
    } catch { throw .prediction(error) }
    guard let tensor = outputs[output.name]?.multiArrayValue?.tensor else {
      throw .invalidModel("the model computes no array '\(output.name)'")
    }
    let map = LabelMap(
      try output.classes(tensor), width: output.width, height: output.height,
      onto: ImageSize(image, orientation), region: region, input: input, cropAndScale)
    let seen = SegmentationObservation(map, classes, classCount: output.classCount)
    return if let chosen { seen.keeping(chosen) } else { seen }
  }
}
