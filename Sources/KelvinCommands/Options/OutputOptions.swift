import ArgumentParser

/// How a command speaks.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON document on standard output, and nothing else there.")
  var json = false

  @Flag(help: "Say more: every operation folded away, whole reasons, what the cache did.")
  var verbose = false
}

extension OutputOptions {
  /// - Parameter format: of a list, whose usual one is called table.
  /// - Throws: `ValidationError` where results are to be one document and in another form, too.
  func validate(beside format: some RawRepresentable<String>) throws {
    if json, format.rawValue != "table" { throw ValidationError("--json and --format contradict each other") }
  }
}
