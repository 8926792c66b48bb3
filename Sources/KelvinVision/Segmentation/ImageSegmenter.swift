package import Kelvin
package import KelvinEngine
package import KelvinGraph
package import KelvinRuntime

/// A model as a function from one image to the class of each pixel.
package struct ImageSegmenter: Sendable {
  package let classes: SegmentationClasses
  /// The classes to which answers are restricted; nil for all.
  var chosen: Set<Int>?
  /// The model's function with an image input.
  package let function: Function
  /// Remarks for the user about unreadable metadata.
  package var remarks: [String] { classes.remarks }
  private let inputName: String
  private let input: (width: Int, height: Int)
  private let output: SegmentationOutput

  /// Creates a segmenter.
  ///
  /// - Parameters:
  ///   - name: The name of the output; nil where it can be inferred.
  ///   - labels: The names of the classes, in place of the model's own.
  ///   - colors: The colours of the classes as `#RRGGBB`, in place of the model's own.
  ///   - normalization: The normalization for a model whose input is a plain tensor.
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

  /// Returns the classes that have one of these labels.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks.
  func indices(of labels: [String]) throws(VisionError) -> Set<Int> {
    try classes.indices(of: labels, count: output.classCount)
  }

  /// Returns the class of every pixel of the upright image.
  ///
  /// - Parameters:
  ///   - predictor: A predictor of `function`.
  ///   - region: The part of the upright image that the model sees; nil for all.
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
