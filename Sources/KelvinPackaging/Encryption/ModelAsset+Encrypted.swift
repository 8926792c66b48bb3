public import FoundationEssentials
public import Kelvin
import KelvinBasics
public import KelvinFeatures

extension ModelAsset {
  /// Creates an asset of an encrypted model, which `kelvin encrypt` makes. Decrypts it into memory.
  ///
  /// Nothing of the model is written to the disk: no compiled cache is used, whatever the configuration says. The model
  /// cannot be isolated in a worker, and its start cannot be measured.
  ///
  /// ```swift
  /// let asset = try ModelAsset(encrypted: URL(filePath: "Digits.kelvinmodel")) { try ModelKey(keyData) }
  /// let model = try await Model.load(asset: asset)
  /// ```
  ///
  /// - Parameters:
  ///   - url: the file of the encrypted model.
  ///   - key: returns the key that the model was encrypted with. Called once the file is known to be an encrypted model.
  /// - Throws: `ModelError` with code `io` if the file cannot be read or is damaged, `parameters` if the key does not
  ///   match or `key` failed, `unsupported` for a later version of the format.
  public init(encrypted url: URL, key: () throws -> ModelKey) throws(ModelError) {
    let files: [(path: String, bytes: Data)]
    do throws(PackagingError) {
      let file = try PackagingError.wrapping { () throws(FileError) in try OpenFile(url.relativePath) }
      let reader = try ContainerReader(file) { () throws(PackagingError) in
        do { return try key() } catch let error as ModelError {
          throw PackagingError(.key, error.description)
        } catch {
          throw PackagingError(.key, "the key of '\(url.relativePath)' is not available: \(error)")
        }
      }
      files = try reader.files()
    } catch { throw error.publicError }
    try self.init(decrypted: files, from: url)
  }

  /// Creates the asset of decrypted files; the model itself has an empty path.
  init(decrypted files: [(path: String, bytes: Data)], from url: URL) throws(ModelError) {
    let blobs = files.filter { !$0.path.isEmpty }
    guard let model = files.first(where: { $0.path.isEmpty }), !model.bytes.isEmpty else {
      throw ModelError(.io, "'\(url.relativePath)' has no model")
    }
    var named: [String: Data] = [:]
    for blob in blobs { named[exact: blob.path] = blob.bytes }
    self.init(confidential: model.bytes, files: named, from: url)
  }
}

extension PackagingError {
  /// The error as the interface of encrypted models throws it.
  fileprivate var publicError: ModelError {
    code == .key ? ModelError(.parameters, description, fault: .data) : modelError
  }
}

/// Encrypted models that are loaded by their paths, as by the commands.
package enum EncryptedModels {
  /// Returns whether a file is an encrypted model. False if it cannot be read.
  package static func recognizes(_ path: String) -> Bool {
    guard let file = try? OpenFile(path), let start = try? file.start(ModelContainer.headerByteCount) else {
      return false
    }
    return ModelContainer.recognizes(start)
  }

  /// Lets this process load encrypted models wherever it loads a model by its path.
  ///
  /// - Parameter key: returns the key; called for each encrypted model.
  package static func open(with key: @escaping @Sendable (URL) throws(ModelError) -> ModelKey) {
    ModelOpener.current = { (url) throws(ModelError) in
      guard recognizes(url.relativePath) else { return nil }
      return try ModelAsset(encrypted: url) { try key(url) }
    }
  }
}
