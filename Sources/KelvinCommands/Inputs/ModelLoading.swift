import FoundationEssentials
import Kelvin

extension Model {
  /// Loads a model for a command, with progress on a terminal. Prints the model's remarks, such as outdated
  /// measurements, nodes outside the requested units, or an unusable cache.
  ///
  /// - Throws: `ModelError` as `init(contentsOf:configuration:progress:)` does.
  static func loadWithProgress(_ file: ReadModel, _ configuration: ModelConfiguration) throws -> Model {
    let progress = Progress("loading")
    defer { progress.finish() }
    let model = try Model(file, configuration: configuration) { progress.update($0) }
    model.remarks.forEach(Console.note)
    return model
  }

  /// Loads the model at a path, as the other variant does.
  static func loadWithProgress(_ path: String, _ configuration: ModelConfiguration) throws -> Model {
    try loadWithProgress(
      try ReadModel(contentsOf: URL(filePath: path), allowsLinks: configuration.allowsLinks), configuration)
  }
}
