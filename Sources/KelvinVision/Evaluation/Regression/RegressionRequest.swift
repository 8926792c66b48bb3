#if Collections
public import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinRuntime
import KelvinHostOperations
import Synchronization

/// Asks a model for one number, from the cells of a row (as `TablePrediction` reads them, arrays also from `.npy` files) and
/// images.
public struct RegressionRequest: EvaluatedRequest {
  /// What is in a row, its images decoded.
  public struct Question: Sendable {
    let row: TableRow
    let images: [String: DecodedImage]
  }

  public let model: Model
  public let remarks: [String] = []
  /// The output that is the number.
  public let output: String
  /// The model's inputs.
  public let inputNames: [String]
  /// How an image is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill

  /// Those of them that are images, and those of these that may not be left out.
  let imageNames: Set<String>
  let neededImageNames: Set<String>

  /// The function without its images, which are no cells.
  private let cells: Function
  private let lastReader = LastReader()
  private let predictor: Predictor

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
    if normalization != nil { _ = try ImageInput.only(of: &function, model.loaded.context.graph, normalization) }
    let numbers = function.outputs.filter(\.isNumber).map(\.name)
    guard let name = output ?? (numbers.count == 1 ? numbers[0] : nil), numbers.contains(name) else {
      let all = function.outputs.map { "'\($0.name)' (\($0.type.text))" }.joined(separator: ", ")
      throw .invalidModel(
        numbers.isEmpty ? "the model gives no number; it gives \(all)" : "which output is judged must be said: \(all)")
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

  /// Which columns of a table the inputs are read from, images apart.
  ///
  /// - Throws: `VisionError.invalidRequest` naming a column that is missing.
  func reader(of row: TableRow) throws(VisionError) -> TableRowReader {
    if let known = lastReader.reader(of: row.columns) { return known }
    do throws(ModelError) { return lastReader.keep(try TableRowReader(cells, rowsLike: row)) } catch {
      throw .invalidRequest(error.description)
    }
  }

  /// The number.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a field that is not what the model takes; `prediction` where it fails.
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

/// The reader of one table's rows: those that come one after another are of the same.
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
#endif
