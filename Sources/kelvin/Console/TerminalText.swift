import KelvinBasics

extension TextTable {
  /// The table as wide as the terminal, without a newline at its end.
  func text() -> String { lines(width: Console.width).joined(separator: "\n") }
}

extension String {
  /// The text broken into lines of at most `width` characters, as `wrapped` does, in one piece.
  func paragraph(width: Int = Console.width, indent: Int = 0, hangingIndent: Int? = nil) -> String {
    wrapped(to: width, indent: indent, hangingIndent: hangingIndent).joined(separator: "\n")
  }
}
