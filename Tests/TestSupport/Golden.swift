import FoundationEssentials
package import Testing

/// Golden files in the repository: run with UPDATE_GOLDEN=1 to rewrite them, and review the difference.
package enum Golden {
  /// Expects a string to equal the golden file.
  ///
  /// - Parameter path: the path from the project's root.
  package static func expect(_ text: String, at path: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let file = "\(SharedFiles.projectRoot)/\(path)"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      do { try Data(text.utf8).write(to: URL(filePath: file)) } catch {
        Issue.record("cannot write \(file): \(error)", sourceLocation: sourceLocation)
      }
      return
    }
    let kept = (try? Data(contentsOf: URL(filePath: file))).map { String(decoding: $0, as: UTF8.self) }
    #expect(
      text == kept, "\(path) is out of date; run the tests with UPDATE_GOLDEN=1 and read the difference",
      sourceLocation: sourceLocation)
  }
}
