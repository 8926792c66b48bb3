package import KelvinDevices

/// The layout that packers write. Raise it whenever any device's packing or any name of a layout changes meaning, so
/// that no build reads what another build packed differently.
private let packFormat = 1

/// What compiling leaves behind for later processes: packed weights and devices' blobs, under names made from
/// everything they depend on.
package final class CompiledCache: Sendable {
  package let directory: CacheDirectory
  private let kelvinVersion: String
  private let stores = WeightRegistry<CachedWeights>()

  package init(_ directory: CacheDirectory, kelvinVersion: String) {
    self.directory = directory
    self.kelvinVersion = kelvinVersion
  }

  /// The packed weights of one function of a model on one device: the same object as long as anybody holds it.
  package func weights(_ model: ContentKey, function: String, device: DeviceInfo) -> CachedWeights {
    let key = ContentKey([model.description, function] + environment(device))
    let name = "models/\(model)/\(key).pack"
    return stores.store(name) { CachedWeights(directory, name) }
  }

  /// Lets go of what was packed here from files that are not to be trusted.
  func forget(_ weights: CachedWeights) {
    weights.forget()
    stores.forget(weights)
  }

  /// A device's small results, good for every model.
  package func blobs(_ device: DeviceInfo) -> any BlobCache {
    CachedBlobs(directory, "blobs/\(ContentKey(environment(device)))")
  }

  private func environment(_ device: DeviceInfo) -> [String] {
    [kelvinVersion, "\(packFormat)", device.id, device.name, device.driver, device.version]
  }
}
