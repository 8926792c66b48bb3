import ArgumentParser

/// How what was seen on pictures is printed.
enum PictureResultFormat: String, CaseIterable, ExpressibleByArgument {
  /// For people.
  case table
  /// A JSON document on a line for each picture, as it is done.
  case jsonl
  /// A line for each label, as it is done, below one with the columns' names.
  case csv
}
