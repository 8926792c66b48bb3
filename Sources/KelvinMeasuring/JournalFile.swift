import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinRuntime

/// The file that a benchmark appends its journal to, line by line.
final class JournalFile {
  let path: String
  private let descriptor: Int32

  /// - Parameters:
  ///   - file: the path that the user chose; nil for the cache, which has one journal for each model and workload.
  ///   - note: called with the reason if no journal can be kept.
  /// - Returns: nil if there is no cache, or it cannot be written.
  /// - Throws: `ModelError` with code `io` if the user's file cannot be written.
  init?(_ file: String?, _ context: ModelContext, _ workload: String, note: (String) -> Void) throws(ModelError) {
    guard let file else {
      guard let directory = context.cache?.directory else { return nil }
      let model = context.name.split(separator: "/").last.map(String.init) ?? context.name
      let name = "journals/\(LocalFile.sanitized("\(model)-\(workload)")).jsonl"
      do throws(FileError) { descriptor = try directory.grow(name) } catch {
        note("no journal is kept: \(error)")
        return nil
      }
      path = "\(directory.path)/\(name)"
      return
    }
    path = file
    descriptor = open(file.pathBytes, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw ModelError(.io, "cannot write '\(file)': \(String(cString: strerror(errno)))")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends a line. If the disk is full, the journal ends and the benchmark goes on.
  func append(_ line: Data) {
    line.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        let count = write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
        if count > 0 { offset += count } else if count == 0 || errno != EINTR { break }
      }
    }
  }
}
