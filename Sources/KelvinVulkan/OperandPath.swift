import CKelvinSupport

/// How kernels' operands are bound; `Shaders/operands.glsl` has the shaders' side.
enum OperandPath: Hashable, Sendable {
  /// Storage buffers, which hardware reads best.
  case buffers
  /// Uniform texel buffers, of which a stage may have more than of storage buffers.
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

  /// What buffers are made for besides storage: formats of views need not be good for more.
  var usage: VkBufferUsageFlags {
    switch self {
    case .buffers: 0
    case .texels: VkBufferUsageFlags(VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT.rawValue)
    case .images: VkBufferUsageFlags(VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT.rawValue)
    }
  }

  /// Whether operands are seen through views of a format, of so many texels at most.
  var hasViews: Bool { self != .buffers }

  /// Whether shaders are told how words lie; else the view's format says it.
  var tellsFormats: Bool { self != .texels }

  /// What the names of modules end in that read operands so.
  var suffix: String {
    switch self {
    case .buffers: ""
    case .texels: "_texels"
    case .images: "_images"
    }
  }
}
