import Glibc
package import Testing

extension Trait where Self == ConditionTrait {
  /// A condition for tests that start restricted workers.
  package static var runsWorkers: Self {
    .enabled(if: Sanitizer.current == nil, "the sanitizer's runtime needs system calls that a worker may not make")
  }
}

extension TemporaryFolder {
  /// Writes a program that sends messages in place of a worker.
  ///
  /// - Parameters:
  ///   - answers: The messages in the notation of `printf`.
  ///   - waits: Whether the program then waits until its parent ends the connection.
  ///   - flood: A message that is sent without end afterwards, while no answer is read.
  package func writeWorker(answers: [String], waits: Bool = true, flood: String? = nil) -> String {
    let endless = flood.map { ["while printf '\($0)' >&0; do :; done"] } ?? []
    let lines =
      ["#!/bin/sh"] + answers.map { "printf '\($0)' >&0" } + endless + (waits ? ["exec cat > /dev/null"] : [])
    let path = write(lines.joined(separator: "\n") + "\n", "worker")
    chmod(path, 0o755)
    return path
  }
}
