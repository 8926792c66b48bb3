import ArgumentParser

/// The options for a command's output.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON document to standard output, and nothing else.")
  var json = false

  @Flag(help: "Print details: every folded operation, full reasons, and the use of the cache.")
  var verbose = false
}

extension OutputOptions {
  /// Checks that at most one output format is selected.
  ///
  /// - Parameter format: The format of a list. The default is named `table`.
  /// - Throws: `ValidationError` where `--json` is combined with another format.
  func validate(beside format: some RawRepresentable<String>) throws {
    if json, format.rawValue != "table" { throw ValidationError("--json and --format contradict each other") }
  }
}
