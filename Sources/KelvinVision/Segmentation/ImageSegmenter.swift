import Kelvin
package import KelvinEngine
package import KelvinGraph
import KelvinRuntime

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
  /// The input that takes the image.
  var image: ImageFeature
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
    (inputName, image) = try ImageInput.only(of: &function, graph, normalization)
    guard let id = graph.inputs.first(where: { [inputName] in graph[$0].name == inputName }),
      graph[id].type.shape.rank == 4
    else { throw .invalidModel("input '\(inputName)' is not the tensor of an image") }
    let input = (width: graph[id].type.shape[3], height: graph[id].type.shape[2])
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
  ///   - view: The part of the image that the model sees.
  /// - Throws: `VisionError`.
  func segment(
    _ image: PixelBuffer, _ orientation: ImageOrientation, _ view: ModelView, _ cropAndScale: ImageCropAndScale,
    by predictor: Predictor, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> SegmentationObservation {
    let value = FeatureValue(
      image: image, orientation: orientation, cropAndScale: cropAndScale, cropRect: view.cropRect)
    let outputs: DictionaryFeatureProvider
    do throws(ModelError) {
      let provider = DictionaryFeatureProvider(dictionary: [inputName: value])
      outputs = try predictor.run(provider, [:], cancellation).features
    } catch { throw .prediction(error) }
    guard let array = outputs[output.name]?.multiArrayValue else {
      throw .invalidModel("the model computes no array '\(output.name)'")
    }
    let (width, height) = output.size(of: array.shape)
    let map = LabelMap(
      try output.classes(array.tensor, cells: width * height), width: width, height: height,
      onto: ImageSize(image, orientation), region: view.cropRect, input: (view.target.width, view.target.height),
      cropAndScale)
    let seen = SegmentationObservation(map, classes, classCount: output.classCount)
    return if let chosen { seen.keeping(chosen) } else { seen }
  }
}
