import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import KelvinRuntime

/// A model as a function from one image to the objects in it.
struct ImageDetector: Sendable {
  /// The source of the detected objects.
  private enum Source: Sendable {
    /// The boxes that the last stage of a pipeline keeps.
    case kept(KeptBoxes)
    case head(DetectionHead, [HeadOutput])
  }

  /// Limits of a request, in place of the model's own.
  struct Limits {
    var confidence: Float?
    var overlap: Float?
    var count: Int?
  }

  /// The model's function with an image input.
  let function: Function
  /// Remarks about the answers for the user.
  let remarks: [String]
  /// The usual method of fitting images to the model's input size, matching the training of such models.
  let usualCropAndScale: ImageCropAndScale
  var image: ImageFeature
  private let inputName: String
  private let source: Source
  /// The names of the classes; nil where they are unknown.
  let labels: [String]?

  /// Creates a detector.
  ///
  /// - Parameters:
  ///   - described: The head, in place of the model's own description.
  ///   - given: The names of the classes, in place of the model's own and the head's.
  ///   - normalization: The normalization for a model whose input is a plain tensor, in place of the head's.
  /// - Throws: `VisionError` with the remedy where the model does not detect objects, or the head does not match it.
  init(
    _ model: LoadedModel, head described: DetectionHead?, labels given: [String]?, normalization: PixelNormalization?
  ) throws(VisionError) {
    var function = model.function
    if function.classification != nil { throw .invalidModel("the model classifies whole images") }
    if described == nil, let kept = function.detection {
      let classes = kept.labels?.strings
      if let given, let count = classes?.count, count != given.count {
        throw .invalidModel("there are \(given.count) labels, the model has \(count) classes")
      }
      (inputName, image) = try Self.input(of: &function, model, normalization)
      source = .kept(kept)
      labels = given ?? classes
      remarks = []
      usualCropAndScale = .scaleToFill
    } else {
      let outputs = function.outputs.compactMap { HeadOutput($0, in: model) }
      let known = described == nil ? KnownHeads.head(outputs, metadata: model.program.metadata.userDefined) : nil
      guard var head = described ?? known?.head else {
        do throws(VisionError) { _ = try Self.input(of: &function, model, normalization) } catch {
          // A missing normalization can be in the head.
          if case .invalidModel = error { throw error }
        }
        let likely = KnownHeads.likely(outputs).map { ", which looks like the family \($0.rawValue)" } ?? ""
        throw .invalidModel(
          "the model does not say how its outputs become boxes: they are \(outputs.map(\.text).joined(separator: ", ")); "
            + "describe its head (--head FILE, DetectionHead)\(likely)")
      }
      head.labels = given ?? head.labels
      let chosen = try head.chosen(from: outputs)
      (inputName, image) = try Self.input(of: &function, model, normalization, usually: head.normalization)
      // Shapes that depend on data are checked after a prediction.
      let isKnown = chosen.allSatisfy { $0.shape.allSatisfy { $0 >= 0 } }
      let parts = isKnown ? try head.parts(chosen, (image.width, image.height)) : []
      source = .head(head, chosen)
      labels = try head.names(of: parts.first)
      remarks = known?.remark.map { [$0] } ?? []
      usualCropAndScale = [.boxes, .detr].contains(head.family) ? .scaleToFill : .scaleToFit
    }
    self.function = function
  }

  /// Returns the input that takes the image.
  ///
  /// - Parameter usual: The normalization of a plain tensor input where none is given.
  private static func input(
    of function: inout Function, _ model: LoadedModel, _ normalization: PixelNormalization?,
    usually usual: PixelNormalization? = nil
  ) throws(VisionError) -> (name: String, image: ImageFeature) {
    let isPlain = !function.inputs.contains { if case .image = $0.type { true } else { false } }
    return try ImageInput.only(of: &function, model.context.graph, normalization ?? (isPlain ? usual : nil))
  }

  /// Detects the objects in an image, the most confident first.
  ///
  /// - Parameters:
  ///   - predictor: A predictor of `function`.
  ///   - view: The part of the image that the model sees.
  /// - Throws: `VisionError`.
  func detect(
    _ pixels: PixelBuffer, _ orientation: ImageOrientation, _ view: ModelView, _ cropAndScale: ImageCropAndScale,
    _ limits: Limits, by predictor: Predictor, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> [RecognizedObjectObservation] {
    var features = thresholds(limits)
    features[inputName] = FeatureValue(
      image: pixels, orientation: orientation, cropAndScale: cropAndScale, cropRect: view.cropRect)
    let outputs: DictionaryFeatureProvider
    do throws(ModelError) {
      outputs = try predictor.run(DictionaryFeatureProvider(dictionary: features), [:], cancellation).features
    } catch { throw .prediction(error) }
    switch source {
    case .kept(let boxes):
      let found = view.objects(outputs, boxes, names: labels).filter(\.boundingBox.isFinite)
      let sure = found.filter(minimumConfidence: limits.confidence ?? -.infinity)
      return limits.count.map { sure.top($0) } ?? sure.top(.max)
    case .head(let head, let chosen):
      return try objects(outputs, head, chosen, view, limits)
    }
  }

  /// Returns values for the thresholds of a pipeline's suppression, as far as they are inputs of the model.
  private func thresholds(_ limits: Limits) -> [String: FeatureValue] {
    guard case .kept = source else { return [:] }
    let values = [("confidenceThreshold", limits.confidence), ("iouThreshold", limits.overlap)]
    return values.reduce(into: [:]) { features, value in
      guard let number = value.1, function.inputs.contains(where: { $0.name == value.0 && $0.type == .double }) else {
        return
      }
      features[value.0] = FeatureValue(double: Double(number))
    }
  }

  private func objects(
    _ outputs: DictionaryFeatureProvider, _ head: DetectionHead, _ chosen: [HeadOutput], _ view: ModelView,
    _ limits: Limits
  ) throws(VisionError) -> [RecognizedObjectObservation] {
    var (found, arrays): ([HeadOutput], [[Float]]) = ([], [])
    for output in chosen {
      guard let array = outputs[output.name]?.multiArrayValue else {
        throw .invalidModel("the model computes no array '\(output.name)'")
      }
      found.append(HeadOutput(name: output.name, shape: array.shape, isFloat: output.isFloat))
      arrays.append(array.floats)
    }
    let parts = try head.parts(found, (view.target.width, view.target.height))
    let scores = head.scoreRule(of: parts.first)
    let names = if let labels { labels } else { try head.names(of: parts.first) }
    let limit =
      head.countOutput.flatMap { outputs[$0]?.multiArrayValue?.floats.first }.map { $0 > 0 ? Int(min($0, 1e9)) : 0 }
      ?? .max
    let least = limits.confidence ?? head.minimumConfidence
    var (candidates, places): ([BoxCandidate], [(part: Int, row: Int)]) = ([], [])
    for (index, part) in parts.enumerated() {
      for best in scores.best(of: part, in: arrays, from: least) where best.row < limit {
        let box = part.box(best.row, in: arrays)
        guard box.hasArea else { continue }
        candidates.append(BoxCandidate(box: box, confidence: best.confidence, label: best.label))
        places.append((index, best.row))
      }
    }
    let suppression = BoxSuppression(
      maximumOverlap: Double(limits.overlap ?? head.maximumOverlap), isPerClass: head.isPerClass,
      maximumCount: limits.count ?? head.maximumCount)
    return suppression.kept(candidates).map { index in
      let (candidate, place) = (candidates[index], places[index])
      let values =
        parts[place.part].classes == nil ? scores.scores(of: parts[place.part], row: place.row, in: arrays) : nil
      let classes =
        values.map { values in
          values.enumerated().map {
            ClassificationObservation(identifier: Self.name($0.offset, names), confidence: $0.element)
          }
        } ?? [
          ClassificationObservation(identifier: Self.name(candidate.label, names), confidence: candidate.confidence)
        ]
      return RecognizedObjectObservation(labels: classes, boundingBox: view.imageBox(candidate.box))
    }
  }

  private static func name(_ label: Int, _ names: [String]?) -> String {
    names.flatMap { $0.indices.contains(label) ? $0[label] : nil } ?? "\(label)"
  }
}

extension HeadPart {
  /// Returns a row's box in pixels of the model's input.
  func box(_ row: Int, in arrays: [[Float]]) -> CenteredBox {
    let numbers = arrays[boxes.array]
    func number(_ column: Int) -> Double { Double(numbers[boxes.place(row, column)]) }
    return rule.box(row, number(0), number(1), number(2), number(3))
  }
}

extension DetectionHead {
  /// Returns the rule for scores.
  ///
  /// - Parameter part: A part of the head.
  func scoreRule(of part: HeadPart?) -> HeadScores {
    let usual: Activation = family == .detr ? .softmax : part?.rule.isOfLogits == true ? .sigmoid : .none
    return HeadScores(activation: activation ?? usual, background: background)
  }

  /// Returns the names of the classes other than the background; nil where they are unknown.
  ///
  /// - Throws: `VisionError.invalidModel` where the number of names does not match the number of classes.
  package func names(of part: HeadPart?) throws(VisionError) -> [String]? {
    guard let labels, let part, part.classes == nil else { return labels }
    let all = part.scores.columns
    let count = background == .none || all < 2 ? all : all - 1
    if labels.count == count { return labels }
    guard labels.count == all else {
      throw .invalidModel("there are \(labels.count) labels, the model has \(count) classes")
    }
    return background == .first ? Array(labels.dropFirst()) : Array(labels.dropLast())
  }
}

extension HeadOutput {
  /// Creates the description of an array output; nil for any other output.
  init?(_ feature: Feature, in model: LoadedModel) {
    guard case .tensor(let scalar, let dimensions) = feature.type else { return nil }
    var shape = dimensions.map { dimension in if case .fixed(let size) = dimension { size } else { -1 } }
    // Feature descriptions may omit shapes, and sizes that depend on the inputs. The graph's types are used instead.
    for case let loaded? in model.graphs where shape.isEmpty || shape.contains(-1) {
      guard let place = loaded.part.outputs.firstIndex(of: feature.name) else { continue }
      let graph = loaded.context.graph
      var known = graph[graph.outputs[place]].type.shape.dimensions
      for extent in graph.extents where extent.output == place { known[extent.axis] = -1 }
      if shape.isEmpty || shape.count == known.count { shape = known }
    }
    self.init(name: feature.name, shape: shape, isFloat: scalar.isFloatingPoint)
  }
}
