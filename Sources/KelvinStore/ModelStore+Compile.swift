import Glibc
public import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinRuntime

extension ModelStore {
  /// Loads a model, which makes its plan, its packed weights and the self-tests of the devices, so that the next process
  /// starts warm. Records the part of the compiled cache for ``StoredModel/cacheByteCount``.
  ///
  /// - Parameters:
  ///   - model: The version.
  ///   - configuration: How the model is loaded.
  ///   - progress: Called with the fraction of the work done, 0…1.
  /// - Returns: The version, with the size in the cache, and remarks for the user.
  /// - Throws: `ModelError` as `Model.load` does; with code `io` if the store cannot be written to.
  public func compile(
    _ model: StoredModel, configuration: ModelConfiguration = ModelConfiguration(),
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> (model: StoredModel, remarks: [String]) {
    let loaded = try await Model.load(contentsOf: model.url, configuration: configuration, progress: progress)
    let context = loaded.loaded.context
    guard let cache = context.cache?.directory.path else { return (model, loaded.remarks) }
    do throws(StoreError) {
      try changing { () throws(StoreError) in
        var parts = CompiledParts(of: model.folder)
        guard parts.add(cache: Self.absolute(cache), key: context.key.description) else { return }
        try StoreDocument.write(parts, to: "\(model.folder)/\(CompiledParts.fileName)")
      }
      return (try self.model("\(model.name)@\(model.version)"), loaded.remarks)
    } catch { throw ModelError(.io, error.description) }
  }

  private static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path.pathBytes, nil) else { return path }
    defer { free(resolved) }
    return String(path: resolved)
  }
}
