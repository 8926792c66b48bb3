package import KelvinDevices

/// The version of the packed layouts. Increase it whenever a device's packing or the meaning of a layout's name
/// changes, so that no build reads weights that another build packed differently.
private let packFormat = 1

/// Results of compilation that later processes reuse: packed weights and devices' blobs, stored under names made from
/// everything they depend on.
package final class CompiledCache: Sendable {
  package let directory: CacheDirectory
  private let kelvinVersion: String
  private let stores = WeightRegistry<CachedWeights>()

  package init(_ directory: CacheDirectory, kelvinVersion: String) {
    self.directory = directory
    self.kelvinVersion = kelvinVersion
  }

  /// Returns the packed weights of one function of a model on one device. While the object is in use, all callers get
  /// the same one.
  package func weights(_ model: ContentKey, function: String, device: DeviceInfo) -> CachedWeights {
    let key = ContentKey([model.description, function] + environment(device))
    let name = "models/\(model)/\(key).pack"
    return stores.store(name) { CachedWeights(directory, name) }
  }

  /// Drops weights that were packed from files that cannot be trusted.
  func forget(_ weights: CachedWeights) {
    weights.forget()
    stores.forget(weights)
  }

  /// Returns the store of a device's small results, shared by all models.
  package func blobs(_ device: DeviceInfo) -> any BlobCache {
    CachedBlobs(directory, "blobs/\(ContentKey(environment(device)))")
  }

  private func environment(_ device: DeviceInfo) -> [String] {
    [kelvinVersion, "\(packFormat)", device.id, device.name, device.driver, device.version]
  }
}
