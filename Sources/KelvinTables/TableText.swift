import Kelvin
import KelvinBasics

/// The text of a table's rows.
struct TableText {
  private let separator: UInt8
  private let isSafe: Bool
  private(set) var bytes: [UInt8] = []
  private var isAtStart = true

  /// - Parameter isSafe: whether cells that a spreadsheet would take as formulas begin with an apostrophe.
  init(separator: UInt8, isSafe: Bool) { (self.separator, self.isSafe) = (separator, isSafe) }

  /// Adds a cell whose text is already quoted.
  mutating func add(raw cell: some Collection<UInt8>) {
    begin()
    bytes.append(contentsOf: cell)
  }

  mutating func add(_ text: String) { add(raw: DelimitedText.field(text, separator: separator, isSafe: isSafe).utf8) }

  mutating func add(_ number: Double) { add(raw: number.description.utf8) }

  mutating func add(_ number: Float) { add(raw: number.description.utf8) }

  mutating func add(_ number: Int64) { add(raw: number.description.utf8) }

  mutating func addEmpty(_ count: Int = 1) { for _ in 0..<count { begin() } }

  mutating func endRow() {
    bytes.append(UInt8(ascii: "\n"))
    isAtStart = true
  }

  /// Removes everything added since the text had `count` bytes, which was at the start of a row.
  mutating func restartRow(at count: Int) {
    bytes.removeSubrange(count...)
    isAtStart = true
  }

  private mutating func begin() {
    if !isAtStart { bytes.append(separator) }
    isAtStart = false
  }
}
