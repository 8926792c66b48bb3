import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinImport

/// The description of a compiled model's features in `metadata.json`. All values are strings, lists of numbers too.
///
/// The keys are those that coremltools' `mlmodel` library writes (`FeatureType::toDictionary`).
struct CompiledDescription {
  let specificationVersion: Int
  let contents: CoreMLDescription

  private struct Model: Decodable {
    var specificationVersion: Int?
    var shortDescription: String?
    var author: String?
    var license: String?
    var version: String?
    var userDefinedMetadata: [String: String]?
    var inputSchema: [Feature]?
    var outputSchema: [Feature]?
    var stateSchema: [Feature]?
    var functions: [Function]?
    var defaultFunctionName: String?
  }

  private struct Function: Decodable {
    var name: String?
    var inputSchema: [Feature]?
    var outputSchema: [Feature]?
    var stateSchema: [Feature]?
  }

  private struct Feature: Decodable {
    var name: String
    var type: String
    var shortDescription: String?
    var isOptional: String?
    var dataType: String?
    var shape: String?
    var shapeRange: String?
    var enumeratedShapes: String?
    var keyType: String?
    var valueType: String?
    var width: String?
    var height: String?
    var colorspace: String?
    var sizeRange: String?
    var enumeratedSizes: String?
  }

  init(_ bytes: Bytes, file: String) throws(FormatError) {
    guard bytes.count < 1 << 24 else { throw FormatError(.malformed, file: file, "it has \(bytes.count) bytes") }
    let models: [Model]
    do {
      models = try JSONText.decode([Model].self, from: bytes.withUnsafeBytes { Data($0) })
    } catch {
      throw FormatError(
        .malformed, file: file, "it does not describe a compiled model: \(error)",
        remedy: "expected a JSON array of one object with inputSchema and outputSchema")
    }
    guard models.count == 1, let model = models.first else {
      throw FormatError(.malformed, file: file, "it describes \(models.count) models, expected one")
    }
    specificationVersion = model.specificationVersion ?? 0
    var contents = CoreMLDescription()
    contents.main = try Self.function("main", model.inputSchema, model.outputSchema, model.stateSchema, file: file)
    for function in model.functions ?? [] {
      guard let name = function.name else { continue }
      contents.functions[name] = try Self.function(
        name, function.inputSchema, function.outputSchema, function.stateSchema, file: file)
    }
    contents.defaultFunction = model.defaultFunctionName ?? "main"
    contents.metadata.summary = model.shortDescription ?? ""
    contents.metadata.author = model.author ?? ""
    contents.metadata.license = model.license ?? ""
    contents.metadata.version = model.version ?? ""
    contents.metadata.userDefined = model.userDefinedMetadata ?? [:]
    self.contents = contents
  }

  private static func function(
    _ name: String, _ inputs: [Feature]?, _ outputs: [Feature]?, _ states: [Feature]?, file: String
  ) throws(FormatError) -> CoreMLFunctionDescription {
    func features(_ list: [Feature]?) throws(FormatError) -> [CoreMLFeature] {
      var features: [CoreMLFeature] = []
      for feature in list ?? [] { features.append(try Self.feature(feature, file: file)) }
      return features
    }
    var function = CoreMLFunctionDescription()
    function.name = name
    function.inputs = try features(inputs)
    function.outputs = try features(outputs)
    function.states = try features(states)
    return function
  }

  private static func feature(_ described: Feature, file: String) throws(FormatError) -> CoreMLFeature {
    func malformed(_ reason: String) -> FormatError {
      FormatError(.malformed, file: file, place: "feature '\(described.name)'", reason)
    }
    /// Parses one list of numbers, or a list of such lists.
    func lists(_ text: String) throws(FormatError) -> [[Int]] {
      if let lists = try? JSONText.decode([[Int]].self, from: Data(text.utf8)) { return lists }
      throw malformed("expected lists of numbers, found '\(text)'")
    }
    func array() throws(FormatError) -> CoreMLArray {
      let shapes = try described.shape.map { (text) throws(FormatError) in try lists("[\(text)]") } ?? [[]]
      guard shapes.count == 1 else { throw malformed("expected one shape, found '\(described.shape ?? "")'") }
      guard let number = described.dataType.map({ dataTypes[$0] ?? -1 }) else { throw malformed("it has no dataType") }
      return try CoreMLArray(
        shape: shapes[0], dataType: number, ranges: described.shapeRange.map(lists) ?? [],
        shapes: described.enumeratedShapes.map(lists) ?? [], malformed)
    }
    var feature = CoreMLFeature(name: described.name, summary: described.shortDescription ?? "")
    feature.isOptional = described.isOptional == "1"
    switch described.type {
    case "Int64": feature.kind = .int64
    case "Double": feature.kind = .double
    case "String": feature.kind = .string
    case "Dictionary": feature.kind = .dictionary(described.keyType == "Int64" ? .int64 : .string)
    case "Sequence": feature.kind = .sequence(described.valueType == "Int64" ? .int64 : .string)
    case "MultiArray": feature.kind = .array(try array())
    case "State": feature.kind = .state(try array())
    case "Image":
      feature.kind = .image(
        try CoreMLImage(
          width: described.width.flatMap(Int.init) ?? 0, height: described.height.flatMap(Int.init) ?? 0,
          colorSpace: described.colorspace.flatMap { colorSpaces[$0] } ?? -1,
          ranges: described.sizeRange.map(lists) ?? [], listed: described.enumeratedSizes.map(lists) ?? [], malformed))
    default: throw malformed("its type '\(described.type)' is not known")
    }
    return feature
  }

  private static let dataTypes: [String: Int] = {
    typealias Number = CoreMLSchema.ArrayFeatureType.ArrayDataType
    return [
      "Float16": Number.float16, "Float32": Number.float32, "Double": Number.double, "Int32": Number.int32,
      "Int8": Number.int8,
    ]
  }()

  private static let colorSpaces: [String: Int] = {
    typealias Space = CoreMLSchema.ImageFeatureType.ColorSpace
    return [
      "RGB": Space.rgb, "BGR": Space.bgr, "Grayscale": Space.grayscale, "Grayscale16Half": Space.grayscaleFloat16,
    ]
  }()
}
