public import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import KelvinRuntime
import KelvinTables
public import KelvinVision
import Synchronization

/// A request for one number from a model. Inputs come from images and from the cells of a row, which are read as
/// `TablePrediction` reads them. Arrays may also come from `.npy` files.
public struct RegressionRequest: EvaluatedRequest {
  /// A row with its decoded images.
  public struct Question: Sendable {
    let row: TableRow
    let images: [String: DecodedImage]
  }

  public let model: Model
  public let remarks: [String] = []
  /// The name of the output that holds the number.
  public let output: String
  /// The names of the model's inputs.
  public let inputNames: [String]
  /// The method that fits an image to the model's input size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill

  /// The names of the image inputs, and of the image inputs that are required.
  let imageNames: Set<String>
  let neededImageNames: Set<String>

  /// The function without its image inputs, which are not read from cells.
  private let cells: Function
  private let lastReader = LastReader()
  private let predictor: Predictor

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - output: The name of the output that holds the number; may be nil where only one output holds a number.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor.
  /// - Throws: `VisionError`: `invalidModel` for a model without a suitable output, or with several where `output` is
  ///   nil.
  public init(
    model: Model, output: String? = nil, normalization: PixelNormalization? = nil
  ) throws(VisionError) {
    var function = model.function
    guard function.classification == nil else { throw .invalidModel("the model gives classes, not a number") }
    if normalization != nil { _ = try ImageInput.only(of: &function, model.loaded.context.graph, normalization) }
    let numbers = function.outputs.filter(\.isNumber).map(\.name)
    guard let name = output ?? (numbers.count == 1 ? numbers[0] : nil), numbers.contains(name) else {
      let all = function.outputs.map { "'\($0.name)' (\($0.type.text))" }.joined(separator: ", ")
      throw .invalidModel(
        numbers.isEmpty
          ? "the model gives no number; it gives \(all)" : "several outputs can be evaluated; name one of \(all)")
    }
    self.model = model
    self.output = name
    inputNames = function.inputs.map(\.name)
    let images = function.inputs.filter { if case .image = $0.type { true } else { false } }
    imageNames = Set(images.map(\.name))
    neededImageNames = Set(images.filter { !$0.isOptional && $0.defaultValue == nil }.map(\.name))
    var cells = function
    cells.inputs.removeAll { images.map(\.name).contains($0.name) }
    self.cells = cells
    predictor = model.predictor(of: function)
  }

  public func answer(_ question: Question) throws(VisionError) { _ = try number(question) }

  /// Returns the reader that maps the columns of a table to the inputs other than images.
  ///
  /// - Throws: `VisionError.invalidRequest` naming a column that is missing.
  func reader(of row: TableRow) throws(VisionError) -> TableRowReader {
    if let known = lastReader.reader(of: row.columns) { return known }
    do throws(ModelError) { return lastReader.keep(try TableRowReader(cells, rowsLike: row)) } catch {
      throw .invalidRequest(error.description)
    }
  }

  /// Predicts the number; NaN where the output holds none.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a field that is not valid for the model; `prediction` where the
  ///   model fails.
  func number(_ question: Question) throws(VisionError) -> Double {
    let reader = try reader(of: question.row)
    do throws(ModelError) {
      var values = try reader.values(of: question.row)
      for name in imageNames {
        guard let image = question.images[name] else { continue }
        values[name] = FeatureValue(
          image: image.pixels, orientation: image.orientation, cropAndScale: cropAndScaleAction)
      }
      let value = try predictor.run(DictionaryFeatureProvider(dictionary: values), [:], nil).features[output]
      return value?.number ?? .nan
    } catch {
      if error.code == .featureType { throw .invalidRequest(error.description) }
      throw .prediction(error)
    }
  }
}

/// A cache of the last row reader. Consecutive rows usually belong to the same table.
private final class LastReader: Sendable {
  private let last = Mutex<TableRowReader?>(nil)

  func reader(of columns: [String]) -> TableRowReader? {
    last.withLock { last in last?.columns == columns ? last : nil }
  }

  func keep(_ reader: TableRowReader) -> TableRowReader {
    last.withLock { $0 = reader }
    return reader
  }
}

extension Feature {
  /// Whether the feature holds one number.
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
  /// The number that the value holds; nil for other values.
  fileprivate var number: Double? {
    if let array = multiArrayValue { return array.count == 1 ? array.tensor.doubles.first : nil }
    return int64Value.map(Double.init) ?? doubleValue
  }
}
