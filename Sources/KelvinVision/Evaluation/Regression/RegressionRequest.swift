public import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinRuntime
import KelvinSteps

/// Asks a model for one number, from the fields of a row: numbers, texts, arrays in `.npy` files, and pictures.
public struct RegressionRequest: EvaluatedRequest {
  /// What is in a row, its pictures decoded.
  public struct Question: Sendable {
    let texts: [String: String]
    let pictures: [String: DecodedImage]
  }

  public let model: Model
  public let remarks: [String] = []
  /// The output that is the number.
  public let output: String
  /// The inputs that a row must have.
  public let inputNames: [String]
  /// How a picture is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill

  /// Those of them that may not be left out.
  var requiredNames: [String] { inputNames.filter { !optional.contains($0) } }

  private let images: Set<String>
  private let reader: FeatureReader
  private let predictor: Predictor
  private let optional: Set<String>

  /// A request for a number.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - output: the output that is the number; the only one that can be where nil.
  ///   - normalization: how pixels enter a model whose input is a plain tensor.
  /// - Throws: `VisionError`: `invalidModel` for a model that gives no number, or several.
  public init(
    model: Model, output: String? = nil, normalization: PixelNormalization? = nil
  ) throws(VisionError) {
    var function = model.function
    guard function.classification == nil else { throw .invalidModel("the model gives classes, not a number") }
    if normalization != nil { _ = try PictureInput.only(of: &function, model.loaded.context.graph, normalization) }
    let numbers = function.outputs.filter(\.isNumber).map(\.name)
    guard let name = output ?? (numbers.count == 1 ? numbers[0] : nil), numbers.contains(name) else {
      let all = function.outputs.map { "'\($0.name)' (\($0.type.text))" }.joined(separator: ", ")
      throw .invalidModel(
        numbers.isEmpty ? "the model gives no number; it gives \(all)" : "which output is judged must be said: \(all)")
    }
    self.model = model
    self.output = name
    inputNames = function.inputs.map(\.name)
    optional = Set(function.inputs.filter { $0.isOptional || $0.defaultValue != nil }.map(\.name))
    images = Set(function.inputs.compactMap { if case .image = $0.type { $0.name } else { nil } })
    reader = FeatureReader(function)
    predictor = model.predictor(of: function)
  }

  public func answer(_ question: Question) throws(VisionError) { _ = try number(question) }

  /// The number.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a field that is not what the model takes; `prediction` where it fails.
  func number(_ question: Question) throws(VisionError) -> Double {
    do throws(ModelError) {
      let fields = inputNames.compactMap { name -> (name: String, text: String)? in
        guard !images.contains(name), let text = question.texts[name], !text.isEmpty || !optional.contains(name) else {
          return nil
        }
        return (name, text)
      }
      var values = try reader.read(fields, mayLackSome: !images.isEmpty).dictionary
      for name in images {
        guard let picture = question.pictures[name] else { continue }
        values[name] = FeatureValue(
          image: picture.pixels, orientation: picture.orientation, cropAndScale: cropAndScaleAction)
      }
      let value = try predictor.run(DictionaryFeatureProvider(dictionary: values), [:], nil).features[output]
      return value?.number ?? .nan
    } catch {
      if error.code == .featureType { throw .invalidRequest(error.description) }
      throw .prediction(error)
    }
  }
}

extension Feature {
  /// Whether it holds one number.
  fileprivate var isNumber: Bool {
    switch type {
    case .double, .int64: true
    case .tensor(_, let dimensions):
      dimensions.allSatisfy { if case .fixed(let size) = $0 { size == 1 } else { true } }
    default: false
    }
  }
}

extension FeatureValue {
  /// The one number that it holds.
  fileprivate var number: Double? {
    if let array = multiArrayValue { return array.count == 1 ? array.tensor.doubles.first : nil }
    return type == .int64 ? Double(int64Value) : type == .double ? doubleValue : nil
  }
}
