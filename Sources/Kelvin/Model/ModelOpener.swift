package import FoundationEssentials
import KelvinFeatures
import Synchronization

/// Opens models that are stored in another form than as the files of a model, such as encrypted ones.
package enum ModelOpener {
  /// Returns the model at a location; nil if its form is not the opener's.
  package typealias Open = @Sendable (URL) throws(ModelError) -> ModelAsset?

  private static let installed = Mutex<Open?>(nil)

  /// The opener of this process; nil if models are read from their files only.
  package static var current: Open? {
    get { installed.withLock(\.self) }
    set { installed.withLock { $0 = newValue } }
  }
}

extension ModelAsset {
  /// Returns the asset that the process's opener makes of this one, or this asset itself.
  func resolved() throws(ModelError) -> ModelAsset {
    guard memory == nil, let open = ModelOpener.current, var asset = try open(url) else { return self }
    asset.isolation = isolation
    return asset
  }
}
