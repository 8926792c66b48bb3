import FoundationEssentials
import Kelvin

extension Model {
  /// A model as a command runs it, with progress on a terminal. Notes what the user should know of it: measurements that
  /// no longer hold, nodes outside the units asked for, a cache that cannot be used.
  ///
  /// - Throws: `ModelError` as `init(contentsOf:configuration:progress:)` does.
  static func loadWithProgress(_ file: ReadModel, _ configuration: ModelConfiguration) throws -> Model {
    let progress = Progress("loading")
    defer { progress.finish() }
    let model = try Model(file, configuration: configuration) { progress.update($0) }
    model.remarks.forEach(Console.note)
    return model
  }

  /// `loadWithProgress` of the model at a path.
  static func loadWithProgress(_ path: String, _ configuration: ModelConfiguration) throws -> Model {
    try loadWithProgress(
      try ReadModel(contentsOf: URL(filePath: path), allowsLinks: configuration.allowsLinks), configuration)
  }
}
