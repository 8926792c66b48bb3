import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The information from which a kernel is made: a node's types and constants.
struct CPUContext {
  let request: KernelRequest
  let variant: CPUVariant

  init(_ request: KernelRequest, _ variant: CPUVariant) {
    self.request = request
    self.variant = variant
  }

  var inputs: [TensorType] { request.inputs }
  var outputs: [TensorType] { request.outputs }
  var threads: Int { request.threads }

  /// Whether an input is a weight.
  func isConstant(_ input: Int) -> Bool { request.isConstant(input) }

  func unsupported(_ reason: String) -> DeviceError {
    DeviceError(.unsupported, device: "cpu", place: request.node.name, reason: reason)
  }

  /// Checks that all inputs are float16 or float32; arithmetic is float32.
  ///
  /// - Parameter other: an input that takes no part in the arithmetic.
  func requireArithmetic(besides other: Int? = nil) throws(DeviceError) {
    for (input, type) in inputs.enumerated()
    where input != other && type.scalar != .float32 && type.scalar != .float16 {
      throw unsupported("\(type.scalar.rawValue) arithmetic")
    }
  }

  /// Integer kernels compute in int64 or on booleans.
  ///
  /// - Returns: whether the first input is of a type other than float32 and float16.
  func usesIntegers() throws(DeviceError) -> Bool {
    switch inputs[0].scalar {
    case .float32, .float16: return false
    case .float64, .uint64: throw unsupported("\(inputs[0].scalar.rawValue) arithmetic")
    default: return true
    }
  }

  /// Whether the first output has channels, and its row layout differs from the dense layout.
  var hasRows: Bool {
    let shape = outputs[0].shape
    return shape.rank > 2 && !ValueLayout.rows.coincides(with: .dense, shape)
  }

  func requireConstant(_ input: Int, _ what: String) throws(DeviceError) {
    guard isConstant(input) else { throw unsupported("\(what) that are not constant") }
  }
}

/// The implementation of a node on the CPU.
struct CPUKernel {
  /// Weights in the kernel's own layouts. Constant inputs that are not packed are passed as dense tensors.
  var packs: [CPUPack] = []
  /// Sizes of memory that the node uses while it runs, in bytes.
  var temporaries: [Int] = []
  /// Bytes that each thread uses while it runs an item.
  var threadByteCount = 0
  /// The offset of the output in the first input's memory, in bytes. If it is set, the kernel does not run.
  var viewOffset: Int?
  /// For each input, the offset in the output at which its bytes are placed unchanged, or nil. Empty for kernels that
  /// do more than join operands. Kernels do not copy parts that are already in place.
  var partOffsets: [Int?] = []
  /// The input that the kernel copies to the output and then changes there. If nothing else reads the input, both have
  /// the same memory, and the kernel does not copy.
  var updatedInput: Int?
  /// The input that the kernel reads at any address: it copies runs of bytes.
  var unalignedInput: Int?
  /// The kernel's only task, if it computes each element from elements at the same place and from smaller operands.
  var strips: ElementChains.Strips?
  /// Adds the node's tasks for particular memory.
  var record: (CPUOperands, CPUTaskList) -> Void

  init(_ record: @escaping (CPUOperands, CPUTaskList) -> Void) { self.record = record }

  static func view(at offset: Int = 0) -> CPUKernel {
    var kernel = CPUKernel { _, _ in }
    kernel.viewOffset = offset
    return kernel
  }
}

/// One packed layout of a node's constant inputs.
struct CPUPack {
  /// The inputs that are packed; their names and the layout are the key.
  var inputs: [Int]
  /// The name of everything that the packed bytes depend on, except for the inputs themselves: `gemm-f32-8`.
  var layout: String
  var byteCount: Int
  var content: Content

  /// The function that writes every byte.
  enum Content {
    /// A function of the inputs as float32.
    case floats((UnsafeMutableRawBufferPointer, [UnsafeBufferPointer<Float>]) -> Void)
    /// A function of the inputs' stored elements.
    case elements((UnsafeMutableRawBufferPointer, [Bytes]) -> Void)
    /// A function that reads the inputs in their encodings.
    case encoded((UnsafeMutableRawBufferPointer) -> Void)
  }

  init(inputs: [Int], layout: String, byteCount: Int, content: Content) {
    self.inputs = inputs
    self.layout = layout
    self.byteCount = byteCount
    self.content = content
  }

  init(
    inputs: [Int], layout: String, byteCount: Int,
    fill: @escaping (UnsafeMutableRawBufferPointer, [UnsafeBufferPointer<Float>]) -> Void
  ) {
    self.init(inputs: inputs, layout: layout, byteCount: byteCount, content: .floats(fill))
  }
}

extension CPUPack {
  /// Returns a pack of a tensor `[N, C, …]` of floats in blocks of channels.
  static func blocks(of input: Int, _ shape: Shape, lanes: Int) -> CPUPack {
    let blocked = BlockedShape(shape, lanes: lanes)
    let layout = "blocks-\(lanes)-of-\(shape.dimensions.map(String.init).joined(separator: "x"))"
    return CPUPack(inputs: [input], layout: layout, byteCount: 4 * blocked.count) { target, tensors in
      var arguments = ck_blocks_args(
        x: tensors[0].baseAddress, y: target.baseAddress, element: 4, channels: blocked.channels, area: blocked.area,
        lanes: lanes)
      ck_blocks_from_planes_run(&arguments, 0, blocked.area == 0 ? 0 : blocked.batch * blocked.blocks, nil)
    }
  }
}

/// The addresses of a node's operands. Elements of float types are float32.
struct CPUOperands {
  /// The inputs; nil for inputs that are packed.
  var inputs: [UnsafeRawPointer?]
  var outputs: [UnsafeMutableRawPointer]
  var packs: [UnsafeRawPointer]
  var temporaries: [UnsafeMutableRawPointer]

  func floats(_ input: Int) -> UnsafePointer<Float>? { inputs[input]?.assumingMemoryBound(to: Float.self) }
  func result(_ output: Int = 0) -> UnsafeMutablePointer<Float> { outputs[output].assumingMemoryBound(to: Float.self) }
  func packed(_ pack: Int) -> UnsafePointer<Float> { packs[pack].assumingMemoryBound(to: Float.self) }
  func temporary(_ index: Int) -> UnsafeMutablePointer<Float> {
    temporaries[index].assumingMemoryBound(to: Float.self)
  }
}

extension ScalarType {
  /// Bytes of an element inside a segment.
  var innerByteCount: Int { self == .float16 ? 4 : byteCount }

  /// The element type inside a segment.
  var innerCode: ck_scalar {
    switch self {
    case .float16, .float32: ck_float32
    case .float64: ck_float64
    case .int8: ck_int8
    case .int16: ck_int16
    case .int32: ck_int32
    case .int64: ck_int64
    case .uint8: ck_uint8
    case .uint16: ck_uint16
    case .uint32: ck_uint32
    case .uint64: ck_uint64
    case .bool: ck_bool
    }
  }
}

extension TensorType {
  /// Bytes of the tensor inside a segment.
  var innerByteCount: Int { count * scalar.innerByteCount }
}
