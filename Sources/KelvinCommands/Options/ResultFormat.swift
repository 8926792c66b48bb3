import ArgumentParser

/// The output formats of a search.
enum ResultFormat: String, CaseIterable, ExpressibleByArgument {
  /// A table for people.
  case table
  /// One JSON document per line for each result.
  case jsonl
  /// One path per line.
  case paths
  /// Paths, each followed by a zero byte, for names with line feeds and for `xargs -0`.
  case paths0
}
