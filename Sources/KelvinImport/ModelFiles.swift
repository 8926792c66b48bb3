import KelvinBasics
package import KelvinGraph
import Synchronization

/// The files that a model is read from, each opened when it is first needed.
package final class ModelFiles: Sendable {
  /// What is read is held here.
  package let opened: SourceFiles
  private let root: Root
  /// By their names' bytes: names that only look alike are different files.
  private let read = Mutex<[[UInt8]: Bytes]>([:])

  private enum Root {
    /// `place` is where the model lies below the folder, with a slash at its end; empty for the folder itself.
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

  /// - Parameter folder: of a model whose own bytes came from somewhere else.
  package convenience init(folder: String, allowsLinks: Bool = false) {
    self.init(ModelFolder(path: folder, allowsLinks: allowsLinks))
  }

  /// The files of another model that lies beside this one or below it.
  ///
  /// - Parameters:
  ///   - relative: the folder that the other model's files are named from, relative to this one; empty for the same.
  ///   - file: what errors call this model.
  package func below(_ relative: String, file: String) throws(FormatError) -> ModelFiles {
    guard case .folder(let folder, let place) = root else {
      throw FormatError(
        .unsupported, file: file, "a model in memory names another model's file", remedy: "load it from a folder")
    }
    return ModelFiles(folder, place: relative.isEmpty ? place : "\(place)\(relative)/", opened: opened)
  }

  /// Whether there is something of this name in the model's folder.
  package func contains(_ relative: String) -> Bool {
    guard case .folder(let folder, let place) = root else { return false }
    return relative.staysInside && folder.contains(place + relative)
  }

  /// The path of a file that the model names.
  package func path(_ relative: String) -> String {
    switch root {
    case .folder(let folder, let place): "\(folder.path)/\(place)\(relative)"
    case .memory(let files): files.path(relative)
    }
  }

  /// Takes the model's own file, by the path that the user gave.
  package func bytes(at path: String) throws(FormatError) -> Bytes {
    do throws(FileError) {
      let bytes = try Bytes(mapping: path)
      opened.hold(bytes)
      return bytes
    } catch { throw FormatError(error) }
  }

  /// - Parameters:
  ///   - relative: a path from the model, as the model gives it.
  ///   - model: what errors call the model.
  package func bytes(_ relative: String, model: String) throws(FormatError) -> Bytes {
    let name = Array(relative.utf8)
    if let bytes = read.withLock({ $0[name] }) { return bytes }
    guard relative.staysInside else {
      throw FormatError(
        .malformed, file: model, "its weights lie in '\(relative)', outside the model's folder",
        remedy: "weights must lie beside the model or below it")
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
