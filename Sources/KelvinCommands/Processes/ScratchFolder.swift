import Glibc
import Kelvin
import KelvinBasics
import KelvinMeasuring

/// A folder for files of this process, which an interrupt removes too.
struct ScratchFolder {
  let path: String

  /// Makes the folder in `$TMPDIR`, or in `/tmp`.
  ///
  /// - Parameter name: The beginning of its name.
  /// - Throws: `StartFailure`.
  init(_ name: String) throws(StartFailure) {
    let parent = getenv("TMPDIR").map { String(path: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = "\(parent)/\(name)-XXXXXX".pathBytes
    guard mkdtemp(&template) != nil else {
      throw StartFailure(FileError(path: parent, action: "make a folder in", code: errno).description)
    }
    path = String(path: template)
    Interrupts.setFolder(path)
  }

  /// Removes the folder and its files.
  func remove() {
    LocalFile.removeFolder(path)
    Interrupts.setFolder(nil)
  }
}
