public import FoundationEssentials
import Kelvin
import KelvinBasics

/// The model that images are classified by where none is named: the user's choice, kept in a file
/// (`$XDG_CONFIG_HOME/kelvin/default-model.json`, or below `~/.config`), which `kelvin use` writes too.
public struct DefaultModel: Hashable, Sendable {
  /// The model, at an absolute path.
  public var url: URL
  /// The classes' names, in place of the model's own.
  public var labels: [String]?
  /// How pixels enter a model whose input is a plain tensor.
  public var normalization: PixelNormalization?

  /// A choice that is not kept yet.
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

  /// Where the choice is kept.
  ///
  /// - Throws: `missingModel` where the user has no home.
  package static func file() throws(VisionError) -> String {
    let environment = ProcessInfo.processInfo.environment
    // By the XDG rules a path that is not absolute does not count.
    if let folder = environment["XDG_CONFIG_HOME"], folder.isRootedPath { return "\(folder)/kelvin/default-model.json" }
    guard let home = environment["HOME"], home.isRootedPath else {
      throw .missingModel("there is no place for a default model: neither XDG_CONFIG_HOME nor HOME is set")
    }
    return "\(home)/.config/kelvin/default-model.json"
  }

  /// What the user has chosen; nil where nothing.
  ///
  /// - Throws: `missingModel` where what was kept cannot be read.
  public static func configured() throws(VisionError) -> DefaultModel? {
    let file: String
    do throws(VisionError) { file = try self.file() } catch { return nil }
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    let document: Document
    do { document = try JSONText.decode(Document.self, from: try LocalFile.read(file)) } catch {
      throw .missingModel("'\(file)' does not say which model is the default; configure one anew: kelvin use MODEL")
    }
    return DefaultModel(
      url: URL(filePath: document.model), labels: document.labels,
      normalization: document.normalization.flatMap(PixelNormalization.init(rawValue:)))
  }

  /// Keeps the choice for this user.
  ///
  /// - Throws: `missingModel` where there is no place for it, `prediction` where it cannot be written.
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

  /// Forgets the choice.
  ///
  /// - Throws: as `configure()`.
  public static func forget() throws(VisionError) {
    let file = try self.file()
    guard FileManager.default.fileExists(atPath: file) else { return }
    do { try FileManager.default.removeItem(atPath: file) } catch {
      throw .prediction(ModelError(.io, "cannot remove '\(file)': \(error)"))
    }
  }

  /// What to say where there is none.
  package static let exclusions =
    "no model is named, and no default is configured; configure one: kelvin use MODEL, or DefaultModel.configure()"
}
