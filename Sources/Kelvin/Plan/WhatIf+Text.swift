import KelvinBasics
import KelvinEngine

extension WhatIf {
  /// The lines that precede a plan for another machine.
  func lines(width: Int) -> [String] {
    var lines = [
      "WHAT IF: a plan for another machine, \(machine). It cannot be run or adopted here unless its devices are."
    ]
    if let note { lines.append("Its figures: \(note)") }
    lines += reasons.map { "- \($0)" }
    return lines.map { $0.paragraph(width: width) } + [""]
  }
}
