import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A pipeline, and how the elements of each of its operands lie.
struct VulkanProgram: Hashable, Sendable {
  var pipeline: PipelineKey
  var formats: [OperandFormat]
}

/// The kernels of `Shaders/*.comp`, one file of `Kernels/` each.
///
/// A dense element is one word or two, as `Element` says. The lanes of a blocked tensor beyond its channels are zero.
struct VulkanTarget: GPUTarget {
  typealias Weight = VulkanWeight

  let device: String
  let traits: VulkanTraits

  let lanes = 4
  let clearsLanes = true
  let copyRank = 6
  let numbersPerTap = 4

  var storesHalves: Bool { traits.storesHalves }
  var unpacksWeights: Bool { traits.unpacksWeights }

  func byteCount(_ scalar: ScalarType) -> Int { isHalf(scalar) ? 2 : scalar.byteCount == 8 ? 8 : 4 }
  func copyUnit(_ scalar: ScalarType) -> Int { isHalf(scalar) ? 2 : 4 }
  /// How an element that is only moved lies.
  func moved(_ scalar: ScalarType) -> Element { Element(scalar, isHalf: isHalf(scalar)) }

  func halved(_ program: VulkanProgram) -> VulkanProgram? {
    var halved = program
    halved.pipeline.isHalf = true
    guard !program.pipeline.isHalf else { return program }
    guard VulkanPipelines.embedded[halved.pipeline.module] != nil else { return nil }
    halved.formats = program.formats.map(\.halved)
    if !traits.readsTexels { halved.pipeline.formats = halved.formats.map(\.code) }
    return halved
  }

  /// A storage buffer and a texel buffer show a kernel only so much. Constants are never written, and are texel buffers
  /// where operands are.
  func checkSizes(_ context: KernelContext<Self>) throws(DeviceError) {
    for (index, type) in (context.inputs + context.outputs).enumerated() {
      let isConstant = index < context.inputs.count && context.isConstant(index)
      let words = (type.count * byteCount(type.scalar) + 3) / 4
      let blocked = type.shape.rank >= 2 ? BlockedShape(type.shape, lanes: lanes).count : 0
      let bytes = isConstant && traits.readsTexels ? 0 : max(words, blocked) * 4
      if words > traits.texelLimit || bytes > traits.byteLimit {
        throw context.unsupported("\(type) is larger than this driver lets a kernel see at once")
      }
    }
  }

  /// - Parameters:
  ///   - isHalf: whether the shader is that for float16 elements.
  ///   - constants: specialisation constants from 1; 0 is the group's size.
  ///   - groups: along x, y and z.
  func call(
    _ shader: String, _ formats: [OperandFormat], isHalf: Bool = false, group: Int, constants: [Int] = [],
    _ parameters: Parameters, groups: [Int]
  ) -> Call<VulkanProgram> {
    let pipeline = PipelineKey(
      shader: shader, isHalf: isHalf, readsTexels: traits.readsTexels,
      constants: ([group] + constants).map { UInt32(bitPattern: Int32($0)) },
      formats: traits.readsTexels ? [] : formats.map(\.code))
    return Call(VulkanProgram(pipeline: pipeline, formats: formats), parameters, grid: groups)
  }

  /// One invocation for each of `count` elements, which is the kernel's first parameter.
  func flat(
    _ shader: String, _ formats: [OperandFormat], isHalf: Bool = false, constants: [Int] = [], _ parameters: Parameters,
    count: Int
  ) -> Call<VulkanProgram> {
    let (x, z) = folded((count + traits.flatGroup - 1) / traits.flatGroup)
    return call(
      shader, formats, isHalf: isHalf, group: traits.flatGroup, constants: constants, parameters, groups: [x, 1, z])
  }

  /// A long side of a grid as x and z, neither above the device's limit.
  func folded(_ count: Int) -> (x: Int, z: Int) {
    guard count > traits.groupLimit else { return (count, count > 0 ? 1 : 0) }
    let z = (count + traits.groupLimit - 1) / traits.groupLimit
    return ((count + z - 1) / z, z)
  }
}

typealias VulkanLowering = Lowering<VulkanTarget>
