import KelvinBasics

/// The form in which a weight is stored: how its numbers are coded, and which of them are zero and left out.
public struct WeightForm: Hashable, Sendable, CustomStringConvertible {
  /// How numbers are coded.
  public enum Numbers: Hashable, Sendable {
    /// As in the file.
    case original
    /// float16, for weights of float32.
    case float16
    /// Indices into tables.
    case palette(Palette)
    /// Integers with scales.
    case integers(Integers)
  }

  /// Indices into tables of 2 to the power of `bits` entries.
  public struct Palette: Hashable, Sendable {
    /// The number of bits of an index: 1, 2, 3, 4, 6 or 8.
    public var bits: Int
    /// The greatest number of positions along the first axis that share a table; nil for one table.
    public var groupSize: Int?
    /// Whether each position along the first axis has a scale, by which its entries are multiplied.
    public var isScaled = false
    /// The number of neighbours along the first axis that an entry holds: 1, 2 or 4.
    public var vectorSize = 1
  }

  /// Integers, with a scale for each position along the first axis or for each block of the second.
  public struct Integers: Hashable, Sendable {
    /// The number of bits: 4 or 8.
    public var bits: Int
    /// The greatest number of positions along the second axis that share a scale; nil for all.
    public var blockSize: Int?
  }

  /// Which elements are zero.
  public enum Pruning: Hashable, Sendable {
    /// The smallest ones, by this percentage.
    case smallest(percent: Int)
    /// All but the `kept` largest of each `count` neighbours along the second axis.
    case pattern(kept: Int, of: Int)
  }

  /// How the numbers that are not pruned are coded.
  public let numbers: Numbers
  /// Which elements are zero; nil for none.
  public let pruning: Pruning?

  /// The form of the file.
  public static let original = WeightForm(numbers: .original, pruning: nil)
  /// float16 in place of float32.
  public static let float16 = WeightForm(numbers: .float16, pruning: nil)
  /// Integers of 8 bits, with a scale for each position along the first axis.
  public static let int8 = WeightForm(numbers: .integers(Integers(bits: 8)), pruning: nil)

  /// Indices into one table for the whole tensor.
  public static func palette(bits: Int) -> WeightForm {
    WeightForm(Palette(bits: bits))
  }

  /// The forms of iOS 16 that make a float16 weight smaller, from the smallest to the largest.
  public static let smaller: [WeightForm] = [1, 2, 4, 6, 8].map(palette) + [int8]

  /// The forms of iOS 18 besides that a search tries.
  static let newer: [WeightForm] =
    [palette(bits: 3), blocks(bits: 4, of: 32)] + [2, 3, 4, 6].map { WeightForm(Palette(bits: $0, groupSize: 16)) }

  /// The forms of ONNX models.
  static let portable: [WeightForm] = [blocks(bits: 4, of: 32), int8, float16]

  private static func blocks(bits: Int, of size: Int) -> WeightForm {
    WeightForm(numbers: .integers(Integers(bits: bits, blockSize: size)), pruning: nil)
  }

  /// The least version of iOS that reads the form: 16 or 18.
  public var system: Int {
    switch numbers {
    case .original, .float16: 16
    case .palette(let palette):
      pruning == nil && palette == Palette(bits: palette.bits) && palette.bits != 3 ? 16 : 18
    case .integers(let integers): pruning == nil && integers == Integers(bits: 8) ? 16 : 18
    }
  }

  /// The name on the command line, as in ``init(_:)``.
  public var description: String {
    let prefix: String? =
      switch pruning {
      case .smallest(let percent): "prune-\(percent)"
      case .pattern(let kept, let count): "prune-\(kept):\(count)"
      case nil: nil
      }
    let name: String? =
      switch numbers {
      case .original: prefix == nil ? "original" : nil
      case .float16: "float16"
      case .palette(let palette):
        "palette-\(palette.bits)" + (palette.groupSize.map { "-group-\($0)" } ?? "")
          + (palette.isScaled ? "-scaled" : "") + (palette.vectorSize > 1 ? "-vector-\(palette.vectorSize)" : "")
      case .integers(let integers):
        "int\(integers.bits)" + (integers.blockSize.map { "-block-\($0)" } ?? "")
      }
    return [prefix, name].compactMap { $0 }.joined(separator: "+")
  }

  init(_ palette: Palette) { self.init(numbers: .palette(palette), pruning: nil) }

  private init(numbers: Numbers, pruning: Pruning?) { (self.numbers, self.pruning) = (numbers, pruning) }

  /// Creates a form from its name.
  ///
  /// | name | numbers |
  /// |---|---|
  /// | `original` | as in the file |
  /// | `float16` | in place of float32 |
  /// | `palette-N`, N = 1, 2, 3, 4, 6 or 8 | one table |
  /// | `palette-N-group-G` | one table for each G positions along the first axis, or fewer |
  /// | `palette-N-scaled` | one table, and a scale for each position along the first axis |
  /// | `palette-N-vector-V`, V = 2 or 4 | a table of vectors |
  /// | `int8`, `int4` | a scale for each position along the first axis |
  /// | `int8-block-B`, `int4-block-B` | a scale for each B positions along the second axis, or fewer |
  /// | `prune-P`, P = 1 to 99 | without the smallest P % |
  /// | `prune-N:M` | N of each M along the second axis |
  /// | `prune-50+palette-4`, `prune-2:4+int8` | the rest with one table, or with a scale for each position |
  public init?(_ name: String) {
    var parts = name.split(separator: "+", omittingEmptySubsequences: false)[...]
    var pruning: Pruning?
    if let first = parts.first, first.hasPrefix("prune-") {
      guard let found = Self.pruning(first.dropFirst(6)) else { return nil }
      pruning = found
      parts = parts.dropFirst()
    }
    guard parts.count <= 1, let last = parts.first else {
      guard parts.isEmpty, pruning != nil else { return nil }
      self.init(numbers: .original, pruning: pruning)
      return
    }
    guard let numbers = Self.numbers(last), pruning == nil || Self.isPrunable(numbers) else { return nil }
    self.init(numbers: numbers, pruning: pruning)
  }

  private static func pruning(_ text: Substring) -> Pruning? {
    let sides = text.split(separator: ":", omittingEmptySubsequences: false)
    if sides.count == 2, let kept = number(sides[0]), let count = number(sides[1]), kept < count, count <= 64 {
      return .pattern(kept: kept, of: count)
    }
    guard sides.count == 1, let percent = number(text), percent < 100 else { return nil }
    return .smallest(percent: percent)
  }

  /// Whether elements that are left out may have these numbers beside them.
  private static func isPrunable(_ numbers: Numbers) -> Bool {
    switch numbers {
    case .original, .float16: false
    case .palette(let palette): palette == Palette(bits: palette.bits)
    case .integers(let integers): integers.blockSize == nil
    }
  }

  private static func numbers(_ text: Substring) -> Numbers? {
    if text == "original" { return .original }
    if text == "float16" { return .float16 }
    var words = text.split(separator: "-", omittingEmptySubsequences: false)[...]
    let kind = words.removeFirst()
    if kind == "int8" || kind == "int4" {
      var integers = Integers(bits: kind == "int8" ? 8 : 4)
      guard !words.isEmpty else { return .integers(integers) }
      guard words.count == 2, words.removeFirst() == "block", let size = number(words.removeFirst()), size > 1 else {
        return nil
      }
      integers.blockSize = size
      return .integers(integers)
    }
    guard kind == "palette", let bits = words.popFirst().flatMap(number), [1, 2, 3, 4, 6, 8].contains(bits) else {
      return nil
    }
    var palette = Palette(bits: bits)
    switch (words.popFirst(), words.popFirst()) {
    case (nil, nil): break
    case ("scaled", nil): palette.isScaled = true
    case ("group", let size?):
      guard let size = number(size) else { return nil }
      palette.groupSize = size
    case ("vector", let size?):
      guard let size = number(size), size == 2 || size == 4 else { return nil }
      palette.vectorSize = size
    default: return nil
    }
    return words.isEmpty ? .palette(palette) : nil
  }

  /// Returns a number from 1 without leading zeros, so that a form has one name.
  private static func number(_ text: Substring) -> Int? {
    guard text.count <= 6, let number = Int(text), number > 0, String(number) == text else { return nil }
    return number
  }
}
