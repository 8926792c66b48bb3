public import FoundationEssentials
import KelvinEngine
public import KelvinFeatures

/// A model file, for questions that need neither a plan nor a device.
public struct ModelAsset: Hashable, Sendable {
  /// Where the model lies.
  public let url: URL
  /// Whether links among the files that the model names are followed. See `ModelConfiguration.allowsLinks`.
  public let allowsLinks: Bool

  /// A model file or package. Nothing is read yet.
  public init(url: URL, allowsLinks: Bool = false) {
    self.url = url
    self.allowsLinks = allowsLinks
  }

  /// What the model's default function takes and gives.
  ///
  /// - Throws: `ModelError` with code `io` where the file cannot be read, `unsupported` for a kind of model that Kelvin
  ///   does not run.
  public var modelDescription: ModelDescription {
    get async throws(ModelError) { try await describe(nil) }
  }

  /// What one of the model's functions takes and gives.
  ///
  /// - Throws: `ModelError` as `modelDescription` does; `parameters` for a function that the model does not have.
  public func modelDescription(of functionName: String) async throws(ModelError) -> ModelDescription {
    try await describe(functionName)
  }

  /// The functions that can be called, sorted.
  ///
  /// - Throws: `ModelError` as `modelDescription` does.
  public var functionNames: [String] {
    get async throws(ModelError) {
      try await BlockingWork.run { (_) throws(ModelError) -> [String] in
        try ReadModel(contentsOf: url, allowsLinks: allowsLinks).functionNames
      }
    }
  }

  private func describe(_ name: String?) async throws(ModelError) -> ModelDescription {
    try await BlockingWork.run { (_) throws(ModelError) -> ModelDescription in
      try ReadModel(contentsOf: url, allowsLinks: allowsLinks).modelDescription(of: name)
    }
  }
}

extension Model {
  /// Loads an asset's model, as `load(contentsOf:configuration:progress:)` does.
  ///
  /// - Throws: `ModelError` as that does.
  public static func load(
    asset: ModelAsset, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> Model {
    try await load(contentsOf: asset.url, configuration: configuration.allowingLinks(of: asset))
  }
}

extension ComputePlan {
  /// Plans an asset's model without compiling it.
  ///
  /// - Throws: `ModelError` as `Model.load` does.
  public static func load(
    asset: ModelAsset, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> ComputePlan {
    try await load(contentsOf: asset.url, configuration: configuration.allowingLinks(of: asset))
  }
}

extension ModelConfiguration {
  /// The configuration, which follows links where the asset does.
  fileprivate func allowingLinks(of asset: ModelAsset) -> ModelConfiguration {
    var configuration = self
    configuration.allowsLinks = configuration.allowsLinks || asset.allowsLinks
    return configuration
  }
}
