internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

/// The largest size of a tensor.
struct TensorLimits: Hashable, Sendable {
  /// The number of elements that kernels can address.
  var elements = 1 << 30
  /// The size of one buffer, in bytes.
  var bytes: Int
}

/// The kernels of `Shaders/shared` and `Shaders/opencl`.
///
/// Integers are stored inside a segment as in the graph. The lanes of a blocked tensor beyond its channels are
/// undefined.
struct OpenCLTarget: GPUTarget {
  typealias Program = KernelName

  let device: String
  let tuning: Tuning
  var halves: HalfStorage
  let limits: TensorLimits
  /// Whether products of bytes multiply four channels at a time.
  let usesPackedDotProducts: Bool

  var lanes: Int { tuning.lanes }
  let clearsLanes = false
  let iterationLimit = Int.max
  let numbersPerTap = 3

  var unpacksWeights: Bool { tuning.unpacksWeights }

  init(device: String, tuning: Tuning, limits: TensorLimits, usesPackedDotProducts: Bool) {
    (self.device, self.tuning, self.limits, self.usesPackedDotProducts) = (
      device, tuning, limits, usesPackedDotProducts
    )
    halves = tuning.storesHalves ? .float16 : .none
  }

  func byteCount(_ scalar: ScalarType) -> Int { isHalf(scalar) ? 2 : scalar == .float16 ? 4 : scalar.byteCount }

  /// Kernels count elements in 32 bits, including whole blocks of channels. A constant is a separate buffer.
  func sizeFault(_ type: TensorType, isConstant: Bool) -> String? {
    let stored = type.shape.rank > 2 ? BlockedShape(type.shape, lanes: lanes).count : type.count
    if max(type.count, stored) > limits.elements { return "\(limits.elements) elements, as kernels count them" }
    return isConstant ? memoryFault(type) : nil
  }

  func memoryFault(_ type: TensorType) -> String? {
    guard type.count * max(byteCount(type.scalar), type.scalar.byteCount) > limits.bytes else { return nil }
    return "a buffer of \(limits.bytes) bytes (CL_DEVICE_MAX_MEM_ALLOC_SIZE)"
  }

  /// - Parameter items: work items along up to three dimensions; the first is rounded up to whole groups.
  func call(_ kernel: KernelName, _ parameters: Parameters, items: Int...) -> KernelDispatch<KernelName> {
    let first = (items[0] + tuning.group - 1) / tuning.group * tuning.group
    return KernelDispatch(
      kernel, parameters, grid: [first, items.count > 1 ? items[1] : 1, items.count > 2 ? items[2] : 1])
  }

  /// Returns the number of pieces of at most `size` that make up `count`.
  func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }

  /// Returns the number of elements of a row that a work item processes.
  func run(of length: Int) -> Int { min(tuning.run, max(length, 1)) }
}

typealias OpenCLLowering = Lowering<OpenCLTarget>
