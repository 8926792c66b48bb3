import KelvinGraph

/// The terms of an `einsum` equation, with numbers as names of axes.
struct EinsumEquation {
  private(set) var operands: [[Int]] = []
  private(set) var result: [Int] = []

  /// Parses an equation such as `ab,bc->ac`: a letter is an axis, and `...` is any number of leading axes that
  /// broadcast. Without an arrow the result has the ellipsis and then, in alphabetical order, the letters that occur
  /// once.
  ///
  /// - Returns: Nil if the equation does not fit operands of these ranks.
  package init?(_ equation: String, ranks: [Int]) {
    let text = equation.utf8.filter { $0 != UInt8(ascii: " ") }
    guard text.count <= 1024 else { return nil }
    var sides = [[UInt8]()]
    var hasArrow = false
    for byte in text {
      if byte == UInt8(ascii: ">") {
        guard !hasArrow, sides[0].last == UInt8(ascii: "-") else { return nil }
        sides[0].removeLast()
        sides.append([])
        hasArrow = true
      } else {
        sides[sides.count - 1].append(byte)
      }
    }
    let terms = sides[0].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Array.init)
    guard terms.count == ranks.count else { return nil }
    for (term, rank) in zip(terms, ranks) {
      guard let labels = Self.labels(term, rank: rank) else { return nil }
      operands.append(labels)
    }
    let leading = operands.flatMap { $0 }.filter { $0 < 0 }.min() ?? 0
    if hasArrow {
      guard let labels = Self.labels(sides[1], leading: -leading), Set(labels).count == labels.count,
        labels.allSatisfy({ label in operands.contains { $0.contains(label) } })
      else { return nil }
      result = labels
    } else {
      let letters = operands.flatMap { $0 }.filter { $0 >= 0 }
      result =
        Array(leading..<0) + Set(letters).filter { letter in letters.filter { $0 == letter }.count == 1 }.sorted()
    }
  }

  private static func labels(_ term: [UInt8], rank: Int) -> [Int]? {
    let letters = term.filter { $0 != UInt8(ascii: ".") }.count
    let dots = term.count - letters
    guard dots == 0 || dots == 3, letters <= rank, dots == 3 || letters == rank else { return nil }
    return labels(term, leading: rank - letters)
  }

  /// Returns the axes of a term: letters by their codes, the axes of the ellipsis from `-leading` up to -1.
  private static func labels(_ term: [UInt8], leading: Int) -> [Int]? {
    var labels: [Int] = []
    var position = 0
    while position < term.count {
      switch term[position] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        labels.append(Int(term[position]))
        position += 1
      case UInt8(ascii: "."):
        guard term.count >= position + 3, term[position..<(position + 3)].allSatisfy({ $0 == UInt8(ascii: ".") }) else {
          return nil
        }
        labels += Array(-leading..<0)
        position += 3
      default: return nil
      }
    }
    return labels
  }
}
