import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A pipeline, and the storage format of each of its operands.
struct VulkanProgram: Hashable, Sendable {
  var pipeline: PipelineKey
  var formats: [OperandFormat]
}

/// The kernels of `Shaders/shared` and `Shaders/*.comp`.
///
/// A dense element is one word or two (`Element`). The lanes of a blocked tensor beyond its channels are zero.
struct VulkanTarget: GPUTarget {
  let device: String
  let traits: VulkanTraits
  var halves: HalfStorage

  let lanes = 4
  let clearsLanes = true
  var iterationLimit: Int { traits.iterationLimit }
  let numbersPerTap = 4

  var unpacksWeights: Bool { traits.unpacksWeights }

  init(device: String, traits: VulkanTraits) {
    (self.device, self.traits) = (device, traits)
    halves = traits.storesHalves ? .float16 : .none
  }

  func byteCount(_ scalar: ScalarType) -> Int { isHalf(scalar) ? 2 : scalar.byteCount == 8 ? 8 : 4 }

  func halved(_ program: VulkanProgram, _ form: HalfStorageMode) -> VulkanProgram? {
    guard !program.pipeline.isHalf else { return program }
    var halved = program
    let shader = program.pipeline.shader
    let writesWide = shader.hasSuffix(Self.partsSuffix) || shader == WinogradConvolution.wideShader
    switch form {
    case .all, .operands:
      guard writesWide == (form == .operands) else { return nil }
      halved.pipeline.isHalf = true
      guard VulkanPipelines.embedded[halved.pipeline.module] != nil else { return nil }
      halved.formats = program.formats.map(\.halved)
    case .weights:
      guard program.formats.contains(.packed4) else { return nil }
      halved.formats = program.formats.map { $0 == .packed4 ? $0.halved : $0 }
    }
    if traits.operands.tellsFormats { halved.pipeline.formats = halved.formats.map(\.code) }
    return halved
  }

  /// Storage buffers and texel buffers limit the range that a kernel can access. Constants are never written, and are
  /// texel buffers if operands are. Float16 elements count as float32, because kernels without a float16 variant work
  /// on float32.
  func sizeFault(_ type: TensorType, isConstant: Bool) -> String? {
    let words = type.count * max(byteCount(type.scalar) / 4, 1)
    let blocked = type.shape.rank >= 2 ? BlockedShape(type.shape, lanes: lanes).count : 0
    if words > traits.texelLimit { return "a texel buffer of \(traits.texelLimit) elements (maxTexelBufferElements)" }
    let isTexels = isConstant && traits.operands.hasViews
    guard !isTexels, max(words, blocked) * 4 > traits.byteLimit else { return nil }
    return "a storage buffer of \(traits.byteLimit) bytes (maxStorageBufferRange)"
  }

  func seesElements(_ count: Int) -> Bool { count <= traits.texelLimit }

  func memoryFault(_ type: TensorType) -> String? {
    guard type.count * max(byteCount(type.scalar), type.scalar.byteCount) > traits.allocationLimit else { return nil }
    return "an allocation of \(traits.allocationLimit) bytes (maxMemoryAllocationSize)"
  }

  /// - Parameters:
  ///   - isHalf: whether the shader is the variant for float16 elements.
  ///   - specializationConstants: specialization constants from 1; 0 is the group's size.
  ///   - groups: the number of groups along x, y and z.
  func call(
    _ shader: String, _ formats: [OperandFormat], isHalf: Bool = false, group: Int, specializationConstants: [Int] = [],
    _ parameters: Parameters, groups: [Int]
  ) -> KernelDispatch<VulkanProgram> {
    let pipeline = PipelineKey(
      shader: shader, isHalf: isHalf, operands: traits.operands,
      specializationConstants: ([group] + specializationConstants).map { UInt32(bitPattern: Int32($0)) },
      formats: traits.operands.tellsFormats ? formats.map(\.code) : [])
    return KernelDispatch(VulkanProgram(pipeline: pipeline, formats: formats), parameters, grid: groups)
  }

  /// Returns a dispatch with one invocation for each of `count` elements.
  func flat(
    _ shader: String, _ formats: [OperandFormat], isHalf: Bool = false, specializationConstants: [Int] = [],
    _ parameters: Parameters,
    count: Int
  ) -> KernelDispatch<VulkanProgram> {
    let (x, z) = folded((count + traits.flatGroup - 1) / traits.flatGroup)
    return call(
      shader, formats, isHalf: isHalf, group: traits.flatGroup, specializationConstants: specializationConstants,
      parameters, groups: [x, 1, z])
  }

  /// Splits a long side of a grid into x and z, both within the device's limit.
  func folded(_ count: Int) -> (x: Int, z: Int) {
    guard count > traits.groupLimit else { return (count, count > 0 ? 1 : 0) }
    let z = (count + traits.groupLimit - 1) / traits.groupLimit
    return ((count + z - 1) / z, z)
  }
}

typealias VulkanLowering = Lowering<VulkanTarget>
