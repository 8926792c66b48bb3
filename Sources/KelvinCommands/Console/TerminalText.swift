import KelvinBasics

extension TextTable {
  /// The table as wide as the terminal, without a newline at its end.
  func text() -> String { text(width: Console.width) }
}

extension String {
  /// The text broken into lines of at most the terminal's width, in one piece.
  func paragraph(indent: Int = 0) -> String { paragraph(width: Console.width, indent: indent) }
}
