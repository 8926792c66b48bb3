public import FoundationEssentials
import Kelvin
import KelvinBasics

/// The user's default model for classifying images. The choice is stored in a file
/// (`$XDG_CONFIG_HOME/kelvin/default-model.json`, or below `~/.config`), which `kelvin use` also writes.
public struct DefaultModel: Hashable, Sendable {
  /// The absolute file URL of the model.
  public var url: URL
  /// The names of the classes, in place of the model's own.
  public var labels: [String]?
  /// The normalization of pixels for a model whose input is a plain tensor.
  public var normalization: PixelNormalization?

  /// Creates a choice, without storing it.
  public init(url: URL, labels: [String]? = nil, normalization: PixelNormalization? = nil) {
    self.url = url
    self.labels = labels
    self.normalization = normalization
  }

  private struct Document: Codable {
    var model: String
    var labels: [String]?
    var normalization: String?
  }

  /// Returns the path of the file with the choice.
  ///
  /// - Throws: `missingModel` where neither `XDG_CONFIG_HOME` nor `HOME` is set.
  package static func file() throws(VisionError) -> String {
    let environment = ProcessInfo.processInfo.environment
    // The XDG specification requires relative paths to be ignored.
    if let folder = environment["XDG_CONFIG_HOME"], folder.isRootedPath { return "\(folder)/kelvin/default-model.json" }
    guard let home = environment["HOME"], home.isRootedPath else {
      throw .missingModel("there is no folder for a default model: neither XDG_CONFIG_HOME nor HOME is set")
    }
    return "\(home)/.config/kelvin/default-model.json"
  }

  /// Returns the configured default model; nil where none is configured.
  ///
  /// - Throws: `missingModel` where the file cannot be read.
  public static func configured() throws(VisionError) -> DefaultModel? {
    let file: String
    do throws(VisionError) { file = try self.file() } catch { return nil }
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    return try DefaultModel(storedIn: file)
  }

  /// Reads a choice from its file.
  ///
  /// - Throws: `missingModel` for a file that cannot be read, a relative path, or an unknown normalization.
  package init(storedIn file: String) throws(VisionError) {
    guard let document = try? JSONText.decode(Document.self, from: try LocalFile.read(file)),
      document.model.isRootedPath
    else {
      throw .missingModel("'\(file)' does not name the default model; set it again: kelvin use MODEL")
    }
    let normalization = document.normalization.flatMap(PixelNormalization.init(rawValue:))
    if let given = document.normalization, normalization == nil {
      throw .missingModel(
        "'\(file)': '\(given)' is not a normalization, expected \(PixelNormalization.names); "
          + "set the default model again: kelvin use MODEL")
    }
    self.init(url: URL(filePath: document.model), labels: document.labels, normalization: normalization)
  }

  /// Stores the choice for this user.
  ///
  /// - Throws: `missingModel` where there is no folder for it, `prediction` where it cannot be written.
  public func configure() throws(VisionError) {
    let file = try Self.file()
    let document = Document(model: url.path, labels: labels, normalization: normalization?.rawValue)
    do throws(ModelError) {
      try LocalFile.makeFolder(file.parentPath)
      let text: Data
      do { text = try JSONText.encode(document) } catch { throw ModelError(.io, "\(error)") }
      try LocalFile.write(text, to: file)
    } catch { throw .prediction(error) }
  }

  /// Removes the stored choice.
  ///
  /// - Throws: Errors as `configure()`.
  public static func forget() throws(VisionError) {
    let file = try self.file()
    guard FileManager.default.fileExists(atPath: file) else { return }
    do { try FileManager.default.removeItem(atPath: file) } catch {
      throw .prediction(ModelError(.io, "cannot remove '\(file)': \(error)"))
    }
  }

  /// The error message where no default model is configured.
  package static let absence =
    "no model is named, and there is no default model; set one: kelvin use MODEL, or DefaultModel.configure()"
}
