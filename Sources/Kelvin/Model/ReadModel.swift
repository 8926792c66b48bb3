package import FoundationEssentials
package import KelvinBasics
import KelvinEngine
package import KelvinFeatures
package import KelvinGraph
import KelvinImport

/// A model file that has been read once and serves several queries.
package struct ReadModel: Sendable {
  /// The model's location.
  package let url: URL
  package let program: ModelProgram
  /// Whether nothing of the model may be stored between runs.
  package let isConfidential: Bool

  /// - Parameters:
  ///   - allowsLinks: whether links among the model's files are followed.
  ///   - isolation: the process in which the model is read first.
  /// - Throws: `ModelError` with code `io` if the file cannot be read, `unsupported` for a kind of model that Kelvin
  ///   does not run.
  package init(
    contentsOf url: URL, allowsLinks: Bool = false, isolation: Isolation = .standard
  ) throws(ModelError) {
    try self.init(ModelAsset(url: url, allowsLinks: allowsLinks, isolation: isolation))
  }

  init(contentsOf url: URL, _ configuration: ModelConfiguration, _ budget: WorkBudget?) throws(ModelError) {
    try self.init(ModelAsset(url: url, isolation: configuration.isolation).opened(as: configuration), budget)
  }

  /// - Throws: `ModelError` as `init(contentsOf:allowsLinks:)` does.
  package init(_ asset: ModelAsset, _ budget: WorkBudget? = .current) throws(ModelError) {
    let asset = try asset.resolved()
    (url, isConfidential) = (asset.url, asset.isConfidential)
    program = try ModelError.wrapping(within: budget) {
      guard let memory = asset.memory else {
        return try readModel(
          at: asset.url.relativePath, allowsLinks: asset.allowsLinks, isolation: asset.isolation)
      }
      guard asset.isolation == .none else {
        throw ModelError(
          .unsupported, "a model in memory cannot be isolated; load it from a file, or with isolation 'none'")
      }
      return try readModel(memory.formatted)
    }
  }

  /// The names of the model's functions, sorted.
  var functionNames: [String] { program.functions.keys.sorted() }

  /// Returns a function; the default function if `name` is nil.
  ///
  /// - Throws: `ModelError` with code `parameters` for a function that the model does not have.
  func function(_ name: String?) throws(ModelError) -> Function {
    try ModelError.wrapping { try program.function(name) }
  }

  /// Describes a function; the default function if no name is given.
  ///
  /// - Throws: `ModelError` with code `parameters` for a function that the model does not have.
  package func modelDescription(of functionName: String? = nil) throws(ModelError) -> ModelDescription {
    ModelDescription(try function(functionName), program.metadata)
  }

  /// Reads a model that `Model.load` refuses only because input sizes are open: neither the model nor the configuration
  /// gives them. Returns nil if no size is open.
  ///
  /// - Throws: `ModelError` as `init(contentsOf:allowsLinks:)` does; `parameters` for a function that the model does
  ///   not have.
  package init?(openSizesOf asset: ModelAsset, _ configuration: ModelConfiguration) throws(ModelError) {
    try self.init(asset.opened(as: configuration), configuration.budget)
    let inputs = try function(configuration.functionName).inputs
    guard inputs.contains(where: \.hasOpenSizes), configuration.inputShapes.isEmpty else { return nil }
  }

  /// Returns the shapes of the given values, for inputs with open sizes.
  ///
  /// - Throws: `ModelError` with code `featureType` for a value that does not fit; `parameters` for a function that the
  ///   model does not have.
  package func shapes(
    of input: some FeatureProvider, functionName: String?
  ) throws(ModelError) -> [String: [Int]] {
    try FeatureBinding(function: try function(functionName)).shapes(input).mapValues(\.dimensions)
  }
}

extension Feature {
  /// Whether the feature has a size without a default.
  fileprivate var hasOpenSizes: Bool {
    guard case .tensor(_, let dimensions) = type else { return false }
    return takesAnyShape || dimensions.contains { $0.standard == nil }
  }
}

extension ModelAsset.Memory {
  /// The files in the form that the format readers take.
  var formatted: MemoryFiles {
    MemoryFiles(model: specification, files: files)
  }
}
