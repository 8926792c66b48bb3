import KelvinBasics
import KelvinGraph
import Synchronization

/// The files that a model is read from, each opened when it is first needed.
final class ModelFiles: Sendable {
  /// What is read is held here.
  let opened = SourceFiles()
  private let root: ModelFolder
  /// Where the model lies below the root, with a slash at its end; empty for the root itself.
  private let place: String
  /// By their names' bytes: names that only look alike are different files.
  private let read = Mutex<[[UInt8]: Bytes]>([:])

  init(_ root: ModelFolder, place: String = "") {
    self.root = root
    self.place = place
  }

  /// - Parameter folder: of a model whose own bytes came from somewhere else.
  convenience init(folder: String, allowsLinks: Bool = false) {
    self.init(ModelFolder(path: folder, allowsLinks: allowsLinks))
  }

  /// The path of a file that the model names.
  func path(_ relative: String) -> String { "\(root.path)/\(place)\(relative)" }

  /// Takes the model's own file, by the path that the user gave.
  func bytes(at path: String) throws(FormatError) -> Bytes {
    do throws(FileError) {
      let bytes = try Bytes(mapping: path)
      opened.hold(bytes)
      return bytes
    } catch { throw FormatError(error) }
  }

  /// - Parameters:
  ///   - relative: a path from the model, as the model gives it.
  ///   - model: what errors call the model.
  func bytes(_ relative: String, model: String) throws(FormatError) -> Bytes {
    let name = Array(relative.utf8)
    if let bytes = read.withLock({ $0[name] }) { return bytes }
    guard relative.staysInside else {
      throw FormatError(
        .malformed, file: model, "its weights lie in '\(relative)', outside the model's folder",
        remedy: "weights must lie beside the model or below it")
    }
    let file = try root.open(place + relative, model: model)
    do throws(FileError) {
      let bytes = try Bytes(mapping: file)
      opened.hold(bytes)
      read.withLock { $0[name] = bytes }
      return bytes
    } catch { throw FormatError(error) }
  }
}
