import ArgumentParser
import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinStore
import Synchronization

extension ArgumentHelp {
  /// The help of the argument that names a model.
  static let model: ArgumentHelp =
    """
    An .mlpackage or .mlmodelc folder, an .mlmodel or .onnx file, or the name of a model that 'kelvin fetch' has \
    stored.
    """

  /// The help of the argument that names images.
  static let images: ArgumentHelp = "Images: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF."
}

/// The argument that names a model: a path, else NAME or NAME@VERSION in the store.
enum ModelArgument {
  /// The versions that this process uses, which stay in the store until it ends.
  private static let uses = Mutex<[ModelUse]>([])

  /// Returns the path of a model. The use of a model of the store is recorded.
  ///
  /// - Returns: The argument itself, if a file or folder has this path, or the store has no such model.
  static func path(_ text: String) -> String {
    guard access(text.pathBytes, F_OK) != 0 else { return text }
    do throws(StoreError) {
      guard let found = try ModelStore.standard().model(named: text), let use = try found.use() else { return text }
      uses.withLock { $0.append(use) }
      return found.url.relativePath
    } catch {
      Console.note("the store of models is not used: \(error)")
      return text
    }
  }
}
