public import FoundationEssentials
import KelvinEngine
public import KelvinFeatures
import KelvinImport

/// A model in a file or in memory, for queries that need neither a plan nor a device.
public struct ModelAsset: Hashable, Sendable {
  /// A model in memory.
  struct Memory: Hashable, Sendable {
    let specification: Data
    /// The files' bytes, by their paths relative to the model.
    let files: [String: Data]
  }

  /// The model's location; `memory:/model` for a model in memory.
  public let url: URL
  /// Whether links among the model's files are followed. See `ModelConfiguration.allowsLinks`.
  public private(set) var allowsLinks: Bool
  /// The process in which the model is read first. See `ModelConfiguration.isolation`.
  public internal(set) var isolation: Isolation
  /// Whether nothing of the model may be stored between runs. Its configuration then has no effect on the cache.
  package let isConfidential: Bool
  let memory: Memory?

  /// Creates an asset for a model file or package. Does not read it.
  public init(url: URL, allowsLinks: Bool = false, isolation: Isolation = .standard) {
    self.url = url
    self.allowsLinks = allowsLinks
    self.isolation = isolation
    isConfidential = false
    memory = nil
  }

  /// Creates an asset for a model in memory. Does not parse it.
  ///
  /// - Parameters:
  ///   - specification: the bytes of an `.mlmodel` or `.onnx` file, or of the specification in a package.
  ///   - blobMapping: the files that the model refers to, such as `weights/weight.bin`, by their paths relative to the
  ///     model. The folder may be omitted if only one file has the name.
  /// - Throws: `ModelError` with code `io` for an empty specification.
  public init(specification: Data, blobMapping: [URL: Data] = [:]) throws(ModelError) {
    guard !specification.isEmpty else {
      throw ModelError(.io, "expected a model specification of at least one byte, got none")
    }
    url = URL(filePath: MemoryFiles.modelPath)
    allowsLinks = false
    isolation = .standard
    isConfidential = false
    memory = Memory(
      specification: specification,
      files: Dictionary(blobMapping.map { ($0.relativePath, $1) }) { first, _ in first })
  }

  /// Creates an asset for a model in memory of which nothing may be stored.
  ///
  /// - Parameters:
  ///   - specification: as for `init(specification:blobMapping:)`.
  ///   - files: the files that the model refers to, by their paths relative to the model.
  ///   - url: the place that the model comes from.
  package init(confidential specification: Data, files: [String: Data], from url: URL) {
    self.url = url
    allowsLinks = false
    isolation = .standard
    isConfidential = true
    memory = Memory(specification: specification, files: files)
  }

  /// The description of the model's default function.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be read, `unsupported` for a kind of model that Kelvin
  ///   does not run.
  public var modelDescription: ModelDescription {
    get async throws(ModelError) { try await describe(nil) }
  }

  /// Describes one of the model's functions.
  ///
  /// - Throws: `ModelError` as `modelDescription` does; `parameters` for a function that the model does not have.
  public func modelDescription(of functionName: String) async throws(ModelError) -> ModelDescription {
    try await describe(functionName)
  }

  /// The names of the model's functions, sorted.
  ///
  /// - Throws: `ModelError` as `modelDescription` does.
  public var functionNames: [String] {
    get async throws(ModelError) {
      try await BlockingWork.run { (_) throws(ModelError) -> [String] in
        try ReadModel(self).functionNames
      }
    }
  }

  private func describe(_ name: String?) async throws(ModelError) -> ModelDescription {
    try await BlockingWork.run { (_) throws(ModelError) -> ModelDescription in
      try ReadModel(self).modelDescription(of: name)
    }
  }
}

extension Model {
  /// Loads an asset's model, as `load(contentsOf:configuration:progress:)` does.
  ///
  /// - Throws: `ModelError` as `load(contentsOf:configuration:progress:)` does.
  public static func load(
    asset: ModelAsset, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> Model {
    try await load(asset.opened(as: configuration), configuration)
  }
}

extension ComputePlan {
  /// Plans an asset's model without compiling it.
  ///
  /// - Throws: `ModelError` as `Model.load` does.
  public static func load(
    asset: ModelAsset, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> ComputePlan {
    try await load(asset.opened(as: configuration), configuration)
  }
}

extension ModelAsset {
  /// Returns the asset, which also follows links if the configuration allows them, and is isolated if the asset or the
  /// configuration says so. The configuration alone decides for a model in memory, whose asset has no choice.
  func opened(as configuration: ModelConfiguration) -> ModelAsset {
    var asset = self
    asset.allowsLinks = allowsLinks || configuration.allowsLinks
    if memory != nil || configuration.isolation == .worker { asset.isolation = configuration.isolation }
    return asset
  }
}
