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

  /// Macros for kernels that compute in a wider type: ELEMENT, WIDE, and FIT, which brings results back, saturated.
  var wideDefines: [String] {
    let wide =
      switch self {
      case .float16, .float32, .float64: kernelName
      case .uint64: "ulong"
      default: "long"
      }
    return ["ELEMENT=\(kernelName)", "WIDE=\(wide)", "FIT=convert_\(kernelName)\(wide == kernelName ? "" : "_sat")"]
  }
}
