import KelvinBasics

extension TextTable {
  /// Formats the table in the terminal's width, without a newline at its end.
  func text() -> String { text(width: Console.width) }
}

extension String {
  /// Wraps the string to the terminal's width.
  func paragraph(indent: Int = 0) -> String { paragraph(width: Console.width, indent: indent) }
}
