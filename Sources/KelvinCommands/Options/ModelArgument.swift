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
    An .mlpackage or .mlmodelc folder, an .mlmodel or .onnx file, or a URL or a name as for 'kelvin fetch'.
    """

  /// The help of the argument that names images.
  static let images: ArgumentHelp = "Images: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF."
}

/// The argument that names a model: a path, a URL, else NAME or NAME@VERSION in the store.
enum ModelArgument {
  /// The versions that this process uses, which stay in the store until it ends.
  private static let uses = Mutex<[ModelUse]>([])

  private static let schemes = ["https://", "http://", "hf://"]

  /// Returns the path of a model. The use of a model of the store is recorded. A model with a URL is fetched into the
  /// store, unless it is there; the process ends if that fails, because a parser would call any error a wrong argument.
  ///
  /// - Returns: The argument itself, if a file or folder has this path, or the store has no such model.
  static func path(_ text: String) -> String {
    guard access(text.pathBytes, F_OK) != 0 else { return text }
    do {
      let store = try ModelStore.standard()
      let isURL = schemes.contains { text.lowercased().hasPrefix($0) }
      guard let found = isURL ? try fetched(text, store) : try store.model(named: text), let use = try found.use()
      else { return text }
      uses.withLock { $0.append(use) }
      return found.url.relativePath
    } catch  where schemes.contains(where: { text.lowercased().hasPrefix($0) }) {
      Console.error(describe(error))
      exit(ExitStatus(error).code.rawValue)
    } catch {
      Console.note("the store of models is not used: \(error)")
      return text
    }
  }

  private static func fetched(_ url: String, _ store: ModelStore) throws -> StoredModel {
    let progress = Progress("fetching")
    defer { progress.finish() }
    let fetched = try Interrupts.cancelling {
      try await store.fetch(url) { progress.update($0) }
    }
    fetched.remarks.forEach(Console.note)
    return fetched.model
  }
}
