import KelvinBasics
package import KelvinGraph
import Synchronization

/// The files of a model, each opened when it is first needed.
package final class ModelFiles: Sendable {
  /// Keeps the opened files alive.
  package let opened: SourceFiles
  private let root: Root
  /// The read files by the bytes of their names: names that are only canonically equivalent are different files.
  private let read = Mutex<[[UInt8]: Bytes]>([:])

  private enum Root {
    /// A folder; `place` is the path of the model within it, with a trailing slash, or empty for the folder itself.
    case folder(ModelFolder, place: String)
    case memory(MemoryFiles)
  }

  package init(_ root: ModelFolder, place: String = "", opened: SourceFiles = SourceFiles()) {
    self.root = .folder(root, place: place)
    self.opened = opened
  }

  package init(_ memory: MemoryFiles) {
    root = .memory(memory)
    opened = SourceFiles()
  }

  /// Creates the files of a model.
  ///
  /// - Parameter folder: The folder of a model whose own bytes have another source.
  package convenience init(folder: String, allowsLinks: Bool = false) {
    self.init(ModelFolder(path: folder, allowsLinks: allowsLinks))
  }

  /// Returns the files of another model in the same folder or below it.
  ///
  /// - Parameters:
  ///   - relative: The folder that the other model's paths are relative to, relative to this one; empty for the same.
  ///   - file: The name of this model in errors.
  package func below(_ relative: String, file: String) throws(FormatError) -> ModelFiles {
    guard case .folder(let folder, let place) = root else {
      throw FormatError(
        .unsupported, file: file, "a model in memory names another model's file", remedy: "load it from a folder")
    }
    return ModelFiles(folder, place: relative.isEmpty ? place : "\(place)\(relative)/", opened: opened)
  }

  /// Whether the model's folder contains a file of this name.
  package func contains(_ relative: String) -> Bool {
    guard case .folder(let folder, let place) = root else { return false }
    return relative.staysInside && folder.contains(place + relative)
  }

  /// Returns the path of a file that the model refers to.
  package func path(_ relative: String) -> String {
    switch root {
    case .folder(let folder, let place): "\(folder.path)/\(place)\(relative)"
    case .memory(let files): files.path(relative)
    }
  }

  /// Returns the bytes of the model's own file, by the path that the user gave.
  package func bytes(at path: String) throws(FormatError) -> Bytes {
    do throws(FileError) {
      let bytes = try Bytes(mapping: path)
      opened.hold(bytes)
      return bytes
    } catch { throw FormatError(error) }
  }

  /// Returns the bytes of a file that the model refers to.
  ///
  /// - Parameters:
  ///   - relative: The path from the model, as the model gives it.
  ///   - model: The name of the model in errors.
  package func bytes(_ relative: String, model: String) throws(FormatError) -> Bytes {
    let name = Array(relative.utf8)
    if let bytes = read.withLock({ $0[name] }) { return bytes }
    guard relative.staysInside else {
      throw FormatError(
        .malformed, file: model, "its weights are in '\(relative)', outside the model's folder",
        remedy: "weights must be in the model's folder or below it")
    }
    let bytes: Bytes
    switch root {
    case .folder(let folder, let place):
      let file = try folder.open(place + relative, model: model)
      do throws(FileError) { bytes = try Bytes(mapping: file) } catch { throw FormatError(error) }
    case .memory(let files): bytes = try files.bytes(relative, model: model)
    }
    opened.hold(bytes)
    read.withLock { $0[name] = bytes }
    return bytes
  }
}
