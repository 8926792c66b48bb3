public import Kelvin
import KelvinGraph
import KelvinSteps

/// Runs a model on pictures, bringing them to the size it takes.
public struct CoreMLRequest: ImageProcessingRequest {
  /// The model that is run.
  public let model: CoreMLModelContainer
  /// How a picture is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill
  /// The part of the upright picture that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Classes and objects of which the model is less sure are left out.
  public var minimumConfidence: Float = -.infinity
  /// At most so many classes or objects are kept, the surest; nil for all.
  public var maximumObservationCount: Int?

  /// A request to run a model on whole pictures.
  public init(model: CoreMLModelContainer) { self.model = model }

  /// What the model finds in a picture.
  ///
  /// The observations' type is Vision's choice: of a classifier every class as ``ClassificationObservation``, the most
  /// probable first; of a model that ends in non-maximum suppression its ``RecognizedObjectObservation``s in the
  /// model's order; else a ``PixelBufferObservation`` for each picture it makes; else a
  /// ``CoreMLFeatureValueObservation`` for each output.
  ///
  /// - Parameters:
  ///   - image: the picture.
  ///   - orientation: how the stored pixels are turned.
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the picture, `prediction` where the model fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [any VisionObservation] {
    let view = try ModelView(self, image, orientation)
    var features = model.featureProvider?.dictionary ?? [:]
    features[model.inputImageFeatureName] = FeatureValue(
      image: image, orientation: orientation, cropAndScale: cropAndScaleAction,
      cropRect: regionOfInterest == .fullImage ? nil : view.region)
    do throws(ModelError) {
      let provider = DictionaryFeatureProvider(dictionary: features)
      return observations(try await model.model.prediction(from: provider), view)
    } catch { throw .prediction(error) }
  }

  private func observations(_ outputs: DictionaryFeatureProvider, _ view: ModelView) -> [any VisionObservation] {
    let description = model.model.modelDescription
    if description.isClassifier { return kept(classes(outputs, description)) }
    if let detection = description.detection { return kept(objects(outputs, detection, view)) }
    let names = description.outputNames.filter { outputs[$0] != nil }
    let pictures = names.compactMap { name in
      outputs[name]?.imageBufferValue.map { PixelBufferObservation(featureName: name, pixelBuffer: $0) }
    }
    if !pictures.isEmpty { return pictures }
    return names.compactMap { name in
      outputs[name].map { CoreMLFeatureValueObservation(featureName: name, featureValue: $0) }
    }
  }

  private func kept<Observation: VisionObservation>(_ all: [Observation]) -> [any VisionObservation] {
    let sure = minimumConfidence == -.infinity ? all : all.filter(minimumConfidence: minimumConfidence)
    return maximumObservationCount.map { sure.top($0) } ?? sure
  }

  /// Every class; of a classifier without probabilities its one label, with confidence 1.
  private func classes(
    _ outputs: DictionaryFeatureProvider, _ description: ModelDescription
  ) -> [ClassificationObservation] {
    if let name = description.predictedProbabilitiesName {
      let probabilities = outputs[name]?.dictionaryValue ?? [:]
      let curves = model.curves.byLabel
      return probabilities.map { label, confidence in
        let identifier = label.description
        return ClassificationObservation(
          identifier: identifier, confidence: Float(confidence), curve: curves[identifier])
      }.sortedByConfidence()
    }
    guard let label = description.predictedFeatureName.flatMap({ outputs[$0] }) else { return [] }
    let text = label.type == .string ? label.stringValue : "\(label.int64Value)"
    return [ClassificationObservation(identifier: text, confidence: 1)]
  }

  /// One observation for each row of a detector's arrays that has a box.
  private func objects(
    _ outputs: DictionaryFeatureProvider, _ detection: KeptBoxes, _ view: ModelView
  ) -> [RecognizedObjectObservation] {
    guard let confidence = outputs[detection.scoresOutput]?.multiArrayValue, confidence.shape.count == 2,
      let coordinates = outputs[detection.boxesOutput]?.multiArrayValue, coordinates.shape.count == 2,
      coordinates.shape[1] == 4
    else { return [] }
    let classes = confidence.shape[1]
    let names = detection.labels?.texts ?? (0..<classes).map(String.init)
    let (scores, boxes) = (confidence.floats, coordinates.doubles)
    return (0..<min(confidence.shape[0], coordinates.shape[0])).compactMap { row in
      let box = boxes[row * 4..<row * 4 + 4]
      // Rows that only fill up to the least number the model promises are zero.
      guard box.contains(where: { $0 != 0 }) else { return nil }
      let labels = zip(names, scores[row * classes..<(row + 1) * classes]).map {
        ClassificationObservation(identifier: $0, confidence: $1)
      }
      return RecognizedObjectObservation(labels: labels, boundingBox: view.pictureBox(Array(box)))
    }
  }
}

/// How a model sees a picture: the part of it, and where that lies in the model's input.
struct ModelView {
  let region: PixelRect
  private let picture: ImageSize
  private let target: ImageFeature.Size
  private let placement: PicturePlacement

  /// - Throws: `invalidRequest` for a region that has no area or lies outside the picture.
  init(_ request: CoreMLRequest, _ pixels: PixelBuffer, _ orientation: ImageOrientation) throws(VisionError) {
    picture = ImageSize(pixels, orientation)
    region = try request.regionOfInterest.pixels(of: picture)
    let action = request.cropAndScaleAction
    let drawn = action.rotates ? (region.height, region.width) : (region.width, region.height)
    target = request.model.image.nearestSize(to: ImageFeature.Size(width: drawn.0, height: drawn.1))
    placement = PicturePlacement(region: region, width: target.width, height: target.height, action)
  }

  /// A box in shares of the model's input, from its top left, as one of the whole upright picture.
  ///
  /// - Parameter box: centre x, centre y, width, height.
  func pictureBox(_ box: [Double]) -> NormalizedRect {
    func point(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
      placement.picturePoint(targetX: x * Double(target.width), targetY: y * Double(target.height))
    }
    let a = point(box[0] - box[2] / 2, box[1] - box[3] / 2)
    let b = point(box[0] + box[2] / 2, box[1] + box[3] / 2)
    let corner = ImageRect(x: min(a.x, b.x), y: min(a.y, b.y), width: abs(a.x - b.x), height: abs(a.y - b.y))
    return NormalizedRect(imageRect: corner, in: picture, origin: .upperLeft)
  }
}
