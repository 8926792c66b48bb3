internal import KelvinGraph

/// How kernels name the elements of a type inside a segment.
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

  /// Macros for kernels that compute in a wider type: ELEMENT, WIDE, and what brings results back: FIT by their low bits,
  /// SATURATE as the nearest that an element holds.
  var wideDefines: [String] {
    let wide =
      switch self {
      case .float16, .float32, .float64: kernelName
      case .uint64: "ulong"
      default: "long"
      }
    let saturates = wide == kernelName ? "" : "_sat"
    return [
      "ELEMENT=\(kernelName)", "WIDE=\(wide)", "FIT=convert_\(kernelName)",
      "SATURATE=convert_\(kernelName)\(saturates)",
    ]
  }
}
