/// The form in which a weight is stored.
public enum WeightForm: Hashable, Sendable, CustomStringConvertible {
  /// The form of the file.
  case original
  /// Indices of 1, 2, 4, 6 or 8 bits into a table of one for the whole tensor.
  case palette(bits: Int)
  /// Integers of 8 bits, with a scale for each position along the first axis.
  case int8

  /// All forms that make a weight smaller, from the smallest to the largest.
  public static let smaller: [WeightForm] = [1, 2, 4, 6, 8].map(WeightForm.palette) + [.int8]

  /// The name on the command line: `original`, `palette-6`, `int8`.
  public var description: String {
    switch self {
    case .original: "original"
    case .palette(let bits): "palette-\(bits)"
    case .int8: "int8"
    }
  }

  /// Creates a form from its name.
  public init?(_ name: String) {
    guard let form = ([.original] + Self.smaller).first(where: { $0.description == name }) else { return nil }
    self = form
  }
}
