import CKelvinSupport

/// The kind of descriptor that binds kernels' operands; `Shaders/operands.glsl` has the shaders' side.
enum OperandPath: Hashable, Sendable {
  /// Storage buffers, which are fastest on hardware.
  case buffers
  /// Uniform texel buffers. A stage may have more of them than storage buffers.
  case texels
  /// Storage texel buffers of words.
  case images

  var descriptor: VkDescriptorType {
    switch self {
    case .buffers: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
    case .texels: VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
    case .images: VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER
    }
  }

  /// The usage of buffers besides storage. It matches the path because formats of views need not support other usages.
  var usage: VkBufferUsageFlags {
    switch self {
    case .buffers: 0
    case .texels: VkBufferUsageFlags(VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT.rawValue)
    case .images: VkBufferUsageFlags(VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT.rawValue)
    }
  }

  /// Whether operands are bound through views of a format, which have a limited number of texels.
  var hasViews: Bool { self != .buffers }

  /// Whether shaders receive the operand formats; otherwise the format of a view determines them.
  var tellsFormats: Bool { self != .texels }

  /// The suffix of module names for this path.
  var suffix: String {
    switch self {
    case .buffers: ""
    case .texels: "_texels"
    case .images: "_images"
    }
  }
}
