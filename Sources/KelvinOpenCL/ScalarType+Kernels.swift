internal import KelvinGraph

/// The names of a type's elements in kernels.
extension ScalarType {
  var kernelName: String {
    switch self {
    case .float16, .float32: "float"
    case .float64: "double"
    case .int8: "char"
    case .int16: "short"
    case .int32: "int"
    case .int64: "long"
    case .uint8, .bool: "uchar"
    case .uint16: "ushort"
    case .uint32: "uint"
    case .uint64: "ulong"
    }
  }

  /// The macros for kernels that compute in a wider type: ELEMENT, WIDE, FIT and SATURATE. FIT converts a result by its
  /// low bits, SATURATE to the nearest value of the element type. KIND names functions of WIDE, and LEAST is the least
  /// element.
  var wideDefines: [String] {
    let wide =
      switch self {
      case .float16, .float32, .float64: kernelName
      case .uint64: "ulong"
      default: "long"
      }
    let saturates = wide == kernelName ? "" : "_sat"
    let kind = isFloatingPoint ? "float" : wide == "ulong" ? "unsigned" : "signed"
    let least =
      switch self {
      case .float16, .float32, .float64: "-INFINITY"
      case .int8, .int16, .int32, .int64: "\(kernelName.uppercased())_MIN"
      default: "0"
      }
    return [
      "ELEMENT=\(kernelName)", "WIDE=\(wide)", "FIT=convert_\(kernelName)",
      "SATURATE=convert_\(kernelName)\(saturates)", "KIND=\(kind)", "LEAST=\(least)",
    ]
  }
}
