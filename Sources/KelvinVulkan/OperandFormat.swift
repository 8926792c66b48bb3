import CKelvinSupport

/// The storage of an operand's elements, as `Shaders/operands.glsl` reads them.
enum OperandFormat: Hashable, Sendable {
  case float, float4, half, half4, byte, short, uint, uint2, uint4
  /// One float, and four floats, that are never stored as float16.
  case wide, wide4
  /// Four floats of packed weights, which may be stored as float16 beside float32 operands.
  case packed4

  /// The same format for floats stored as float16.
  var halved: OperandFormat {
    switch self {
    case .float: .half
    case .float4, .packed4: .half4
    default: self
    }
  }

  /// The element of a uniform texel buffer.
  var texel: (format: VkFormat, byteCount: Int) {
    switch self {
    case .float, .wide: (VK_FORMAT_R32_SFLOAT, 4)
    case .float4, .wide4, .packed4: (VK_FORMAT_R32G32B32A32_SFLOAT, 16)
    case .half: (VK_FORMAT_R16_SFLOAT, 2)
    case .half4: (VK_FORMAT_R16G16B16A16_SFLOAT, 8)
    case .byte: (VK_FORMAT_R8_UINT, 1)
    case .short: (VK_FORMAT_R16_UINT, 2)
    case .uint: (VK_FORMAT_R32_UINT, 4)
    case .uint2: (VK_FORMAT_R32G32_UINT, 8)
    case .uint4: (VK_FORMAT_R32G32B32A32_UINT, 16)
    }
  }

  /// The element of a storage texel buffer. Shaders must declare its format, so it is one word or four, which every
  /// device supports.
  var words: (format: VkFormat, byteCount: Int) {
    switch self {
    case .float, .wide, .half, .byte, .short, .uint, .uint2: (VK_FORMAT_R32_UINT, 4)
    case .float4, .wide4, .packed4, .half4, .uint4: (VK_FORMAT_R32G32B32A32_UINT, 16)
    }
  }

  /// The number that a shader receives for the format.
  var code: UInt32 {
    switch self {
    case .float, .float4, .wide, .wide4, .packed4, .uint, .uint4: 0
    case .uint2: 1
    case .byte: 2
    case .short: 3
    case .half, .half4: 4
    }
  }
}
