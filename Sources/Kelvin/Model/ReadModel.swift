package import FoundationEssentials
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinImport

/// A model file that has been read once, for whoever asks more than one thing of it.
package struct ReadModel: Sendable {
  /// Where the model lies.
  package let url: URL
  let program: ModelProgram

  /// - Parameter allowsLinks: whether links among the files that the model names are followed.
  /// - Throws: `ModelError` with code `io` where the file cannot be read, `unsupported` for a kind of model that Kelvin
  ///   does not run.
  package init(contentsOf url: URL, allowsLinks: Bool = false) throws(ModelError) {
    try self.init(contentsOf: url, allowsLinks: allowsLinks, .current)
  }

  init(contentsOf url: URL, allowsLinks: Bool, _ budget: WorkBudget?) throws(ModelError) {
    try self.init(ModelAsset(url: url, allowsLinks: allowsLinks), budget)
  }

  /// - Throws: `ModelError` as `init(contentsOf:allowsLinks:)` does.
  init(_ asset: ModelAsset, _ budget: WorkBudget? = .current) throws(ModelError) {
    url = asset.url
    program = try ModelError.wrapping(within: budget) {
      guard let memory = asset.memory else {
        return try readModel(at: asset.url.relativePath, allowsLinks: asset.allowsLinks)
      }
      return try readModel(memory.formatted)
    }
  }

  /// The functions that can be called, sorted.
  var functionNames: [String] { program.functions.keys.sorted() }

  /// A function; the default one where no name is given.
  ///
  /// - Throws: `ModelError` with code `parameters` for a function that the model does not have.
  func function(_ name: String?) throws(ModelError) -> Function {
    try ModelError.wrapping { try program.function(name) }
  }

  /// What a function takes and gives; the default one where no name is given.
  ///
  /// - Throws: `ModelError` with code `parameters` for a function that the model does not have.
  package func modelDescription(of functionName: String? = nil) throws(ModelError) -> ModelDescription {
    ModelDescription(try function(functionName), program.metadata)
  }

  /// What a configuration loads, where `Model.load` has refused it only because a size is open: neither the model nor
  /// the configuration says it, and values will. Nil where it is not that.
  ///
  /// - Throws: `ModelError` as `init(contentsOf:allowsLinks:)` does; `parameters` for a function that the model does not
  ///   have.
  package init?(openSizesOf asset: ModelAsset, _ configuration: ModelConfiguration) throws(ModelError) {
    try self.init(asset.allowingLinks(as: configuration), configuration.budget)
    let inputs = try function(configuration.functionName).inputs
    guard inputs.contains(where: \.hasOpenSizes), configuration.inputShapes.isEmpty else { return nil }
  }

  /// The sizes that values have, for inputs that leave them open.
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
  /// Whether it has a size for which there is no usual one.
  fileprivate var hasOpenSizes: Bool {
    guard case .tensor(_, let dimensions) = type else { return false }
    return dimensions.contains { $0.standard == nil }
  }
}

extension ModelAsset.Memory {
  /// As formats take it.
  var formatted: MemoryFiles {
    MemoryFiles(model: specification, files: files)
  }
}
