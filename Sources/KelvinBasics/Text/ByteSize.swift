/// Byte counts as users write them: `512MB`, `4GiB`.
package enum ByteSize {
  private static let units: [(unit: String, factor: Double)] = [
    ("TiB", 0x1p40), ("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6),
    ("kB", 1e3), ("KB", 1e3), ("B", 1),
  ]

  /// Parses a byte count, 0 or more, with decimal (`GB`) or binary (`GiB`) units.
  ///
  /// - Returns: nil unless the string is a number with a unit.
  package static func bytes(_ text: some StringProtocol) -> Double? {
    guard let unit = units.first(where: { text.hasSuffix($0.unit) }),
      let value = NumberText.number(text.dropLast(unit.unit.count)), value >= 0
    else { return nil }
    return value * unit.factor
  }
}
