import KelvinGraph

/// The numbers that a type holds when they are read from a table.
struct NumberRange: Sendable {
  let range: ClosedRange<Double>
  /// The range in error messages, such as "from -128 to 127".
  let text: String
  /// Whether the type has values for infinity and for a number that is missing.
  let hasSpecialValues: Bool

  init(_ type: FeatureKind) {
    guard case .tensor(let scalar, _) = type else {
      self.init(.float64)
      return
    }
    self.init(scalar)
  }

  private init(_ scalar: ScalarType) {
    // A floating-point type also holds the larger numbers that round to its largest one.
    let (half, single, double) = (65520.0.nextDown, 0x1.FFFFFFp127.nextDown, Double.greatestFiniteMagnitude)
    let known: (lowest: Double, highest: Double, text: String) =
      switch scalar {
      case .float16: (-half, half, "from -65504 to 65504")
      case .float32: (-single, single, "from -3.4e38 to 3.4e38")
      case .float64: (-double, double, "from -1.79e308 to 1.79e308")
      case .int8: (-128, 127, "from -128 to 127")
      case .int16: (-32768, 32767, "from -32768 to 32767")
      case .int32: (-0x1p31, 0x1p31 - 1, "from -2147483648 to 2147483647")
      // The numbers of a table are float64 on their way to an array.
      case .int64: (-0x1p53, 0x1p53, "from -2^53 to 2^53")
      case .uint8: (0, 255, "from 0 to 255")
      case .uint16: (0, 65535, "from 0 to 65535")
      case .uint32: (0, 0x1p32 - 1, "from 0 to 4294967295")
      case .uint64: (0, 0x1p53, "from 0 to 2^53")
      case .bool: (0, 1, "0 or 1")
      }
    range = known.lowest...known.highest
    text = known.text
    hasSpecialValues = scalar.isFloatingPoint
  }

  func contains(_ number: Double) -> Bool { range.contains(number) || hasSpecialValues && number.isNaN }
}
