import ArgumentParser

/// How results are printed.
enum ResultFormat: String, CaseIterable, ExpressibleByArgument {
  /// For people.
  case table
  /// A JSON document on a line for each result.
  case jsonl
  /// The files alone, a line each.
  case paths
  /// The files alone, each with a zero byte behind it: for names with line feeds in them, and `xargs -0`.
  case paths0
}
