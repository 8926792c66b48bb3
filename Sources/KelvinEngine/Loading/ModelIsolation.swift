import Glibc
import KelvinBasics
package import KelvinGraph
package import KelvinImport
package import KelvinIsolation
import KelvinReference

/// Reads a model in a worker first, and then in this process if the worker read it.
///
/// - Throws: `FormatError`, which the worker may have sent; `ModelWorkerError` for a worker that cannot be started,
///   crashed, or reached a limit.
package func readModel(
  at path: String, allowsLinks: Bool, isolation: Isolation, pool: WorkerPool = .standard
) throws -> ModelProgram {
  guard isolation == .worker else { return try readModel(at: path, allowsLinks: allowsLinks) }
  let broker = ModelBroker(path, allowsLinks: allowsLinks)
  let failure: FormatError?
  do throws(WorkerFailure) {
    failure = try pool.run(WorkerMessage(["model", path, "\(allowsLinks)"])) { (message) throws(WorkerFailure) in
      try broker.take(message)
    }
  } catch { throw ModelWorkerError(model: path, failure: error) }
  if let failure { throw failure }
  let program = try readModel(at: path, allowsLinks: allowsLinks)
  guard broker.hasOpened(program.source.opened.states) else {
    throw FormatError(
      .unreadable, file: path, "a file of the model changed after the worker had read it", remedy: "load it again")
  }
  return program
}

/// Reads a model and builds its graphs for the parent of this process, which is a worker.
///
/// An error of a graph, such as an unsupported operation, belongs to the model and is left to the parent.
package func readModel(for parent: WorkerService, _ request: WorkerMessage) {
  FileBrokers.current = parent
  defer { FileBrokers.current = nil }
  do throws(FormatError) {
    let program = try readModel(at: request[1], allowsLinks: request[2] == "true")
    for name in program.functions.keys.sorted() {
      _ = try? program.function(name).builtGraphs(shapes: [:], evaluator: ReferenceEvaluator())
    }
    parent.send(WorkerMessage(["done"]))
  } catch {
    parent.send(
      .failed(
        error.code.rawValue, error.file, error.place, error.offset.map(String.init), error.reason, error.remedy))
  }
}

extension FormatError {
  /// Reads the error that a worker sent for the model at `path`.
  fileprivate init(failed message: WorkerMessage, _ path: String) {
    self.init(
      Code(rawValue: message[1]) ?? .malformed, file: message.optional(2) ?? path, place: message.optional(3),
      offset: Int(message[4]), message[5], remedy: message.optional(6))
  }
}

/// A failure of the worker that read a model.
package struct ModelWorkerError: Error, Hashable, Sendable, CustomStringConvertible {
  package let model: String
  package let failure: WorkerFailure

  package var description: String {
    "model '\(model)': \(failure.reason)" + (failure.remedy.map { "; \($0)" } ?? "")
  }
}

/// Opens a model's files for a worker: the model itself, and what is inside its folder.
package final class ModelBroker {
  private static let allowedFlags = O_NONBLOCK | O_NOFOLLOW | O_DIRECTORY | FileBrokers.pathOnly
  /// The largest number of files that one reading opens.
  private static let maximumFiles = 100_000

  private let model: String
  private let folder: String
  private let allowsLinks: Bool
  private var states: Set<FileState> = []
  private var count = 0
  /// Keeps the last opened file until it is sent.
  private var sent: OpenedFile?

  package init(_ path: String, allowsLinks: Bool) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    model = path
    folder = FileKind(path) == .folder ? path : path.parentPath
    self.allowsLinks = allowsLinks
  }

  /// Whether the worker was given all these files in these states.
  func hasOpened(_ states: [FileState]) -> Bool { states.allSatisfy(self.states.contains) }

  /// Takes an answer of the worker that reads the model. The answer is untrusted.
  ///
  /// - Returns: The reply; as a result the error that the worker met, or nil if it read the model.
  /// - Throws: `WorkerFailure` for an answer that does not follow from the request.
  package func take(_ message: WorkerMessage) throws(WorkerFailure) -> WorkerStep<FormatError?> {
    switch message[0] {
    case "open": .reply(answer(message))
    case "done": .result(nil)
    case "failed": .result(FormatError(failed: message, model))
    default: throw .invalidAnswer
    }
  }

  /// Opens the file that a worker asks for, unless it is outside the model. The request is untrusted.
  package func answer(_ request: WorkerMessage) -> WorkerMessage {
    do throws(FolderDescent.Failure) {
      let file = OpenedFile(descriptor: try open(request))
      sent = file
      var status = stat()
      if fstat(file.descriptor, &status) == 0 { states.insert(FileState(status)) }
      return WorkerMessage(["file"], descriptor: file.descriptor)
    } catch { return error.message }
  }

  private func open(_ request: WorkerMessage) throws(FolderDescent.Failure) -> Int32 {
    let (path, flags) = (request[1], Int32(request[4]) ?? -1)
    let followsLinks = request[5] == "true"
    count += 1
    // The access mode of every allowed flag is reading. A pipe must not block this process.
    guard flags & ~Self.allowedFlags == 0, count <= Self.maximumFiles else { throw .system(EPERM) }
    if request[2] == "below" {
      guard ExactString(request[3]) == ExactString(folder), allowsLinks || !followsLinks else { throw .system(EPERM) }
      return try FolderDescent.open(path, below: folder, last: flags | O_NONBLOCK, followsLinks: followsLinks)
    }
    guard mayOpen(path, flags) else { throw .system(EPERM) }
    let descriptor = Glibc.open(path.pathBytes, flags | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno) }
    return descriptor
  }

  /// Whether a path is the model, or a file in its folder that is only examined or whose links are followed.
  private func mayOpen(_ path: String, _ flags: Int32) -> Bool {
    if ExactString(path) == ExactString(model) { return true }
    let prefix = folder.appendingPath("")
    guard path.utf8.starts(with: prefix.utf8), allowsLinks || flags & FileBrokers.pathOnly != 0 else { return false }
    return String(Substring(path.utf8.dropFirst(prefix.utf8.count))).staysInside
  }
}

/// A descriptor that is closed with the last reference.
private final class OpenedFile {
  let descriptor: Int32
  init(descriptor: Int32) { self.descriptor = descriptor }
  deinit { close(descriptor) }
}
