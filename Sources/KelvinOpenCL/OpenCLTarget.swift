internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

/// The kernels of `Shaders/opencl/*.cl`, one file of `Kernels/` each.
///
/// Integers lie inside a segment as they do in the graph. The lanes of a blocked tensor beyond its channels are
/// undefined.
struct OpenCLTarget: GPUTarget {
  typealias Program = KernelName
  typealias Weight = WeightBuffer

  let device: String
  let tuning: Tuning

  var lanes: Int { tuning.lanes }
  let clearsLanes = false
  let copyRank = 8
  let numbersPerTap = 3

  let storesHalves = false
  var unpacksWeights: Bool { tuning.unpacksWeights }

  func byteCount(_ scalar: ScalarType) -> Int { scalar == .float16 ? 4 : scalar.byteCount }
  func copyUnit(_ scalar: ScalarType) -> Int { byteCount(scalar) }
  func padRank(of scalar: ScalarType) -> Int { 8 }

  /// Kernels count in 32 bits.
  func checkSizes(_ context: KernelContext<Self>) throws(DeviceError) {
    for type in context.inputs + context.outputs {
      let stored = type.shape.rank > 2 ? BlockedShape(type.shape, lanes: lanes).count : type.count
      guard type.count <= 1 << 30, stored <= 1 << 30 else {
        throw context.unsupported("tensors of more than 2^30 elements, whole blocks of channels counted, got \(type)")
      }
    }
  }

  /// - Parameter items: work items along up to three dimensions; the first is rounded up to whole groups.
  func call(_ kernel: KernelName, _ parameters: Parameters, items: Int...) -> Call<KernelName> {
    let first = (items[0] + tuning.group - 1) / tuning.group * tuning.group
    return Call(kernel, parameters, grid: [first, items.count > 1 ? items[1] : 1, items.count > 2 ? items[2] : 1])
  }

  /// How many pieces of at most `size` make up `count`.
  func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }

  /// The elements of a row that a work item handles.
  func run(of length: Int) -> Int { min(tuning.run, max(length, 1)) }

  /// The OpenCL type that moves elements of a size.
  func elementName(byteCount: Int) -> String {
    switch byteCount {
    case 1: "uchar"
    case 2: "ushort"
    case 4: "uint"
    default: "ulong"
    }
  }
}

typealias OpenCLLowering = Lowering<OpenCLTarget>
