package import KelvinDevices
package import KelvinGraph

/// What differs between GPU interfaces: how elements lie, and how each kernel is named, fed and spread over a grid.
/// What is the same, from a node to the kernels that compute it, is `Lowering` and `Kernels/`.
///
/// A method for a kernel is told sizes in elements and answers with the call; `Lowering` adds the memory.
package protocol GPUTarget: KernelDispatches {
  /// The device's id, for messages.
  var device: String { get }
  /// Channels in a block.
  var lanes: Int { get }
  /// Whether every kernel leaves zeros in the lanes beyond a tensor's channels, and expects them there.
  var clearsLanes: Bool { get }
  /// How many axes copies take, of units.
  var copyRank: Int { get }
  /// Iterations of its loops after which the driver ends an invocation of a kernel, whatever it has done by then.
  var iterationLimit: Int { get }
  /// Numbers that the kernels of resizing read for each output position: lower source position, upper one, share of the
  /// upper one, then fillers.
  var numbersPerTap: Int { get }
  /// Invocations in groups that share lines, a power of two; nil where an invocation for each is best.
  var lineGroup: Int? { get }
  /// Whether kernels of products apply an activation themselves, else it takes a kernel of its own.
  func fuses(_ function: UnaryFunction) -> Bool
  /// What the kernel of attention takes.
  var attentionLimits: AttentionLimits { get }

  /// Which floats lie as float16 inside a segment, the others as float32; without a precision asked for that changes it.
  var halves: HalfStorage { get set }
  /// Whether products unpack weights that are codes as they read them, else these are expanded.
  var unpacksWeights: Bool { get }

  /// Bytes that an element takes inside a segment.
  func byteCount(_ scalar: ScalarType) -> Int
  /// Bytes that copies move at a time; they divide `byteCount`.
  func copyUnit(_ scalar: ScalarType) -> Int
  /// Columns that kernels of integer products want weights of so many stored with.
  func storedColumns(_ columns: Int) -> Int
  /// How many axes padding takes.
  func padRank(of scalar: ScalarType) -> Int
  /// The limit above which a tensor is that no kernel can see whole, in words; nil where one can. A node with such a tensor
  /// is computed in parts.
  func sizeFault(_ type: TensorType, isConstant: Bool) -> String?
  /// Whether kernels that read elements one by one see so many: blocks take more of them than the dense tensor does.
  func seesElements(_ count: Int) -> Bool
  /// The limit above which a tensor is that the device cannot hold; nil where it can.
  func memoryFault(_ type: TensorType) -> String?

  /// The form of a kernel of which floats lie as float16; nil where there is none. A program that moves such elements is
  /// its own.
  func halved(_ program: Program, _ form: HalfStorageMode) -> Program?
  /// From float16 elements to float32, in any layout.
  func widen(count: Int) -> KernelDispatch<Program>
  /// From float32 elements to float16, rounded to nearest even, in any layout.
  func narrow(count: Int) -> KernelDispatch<Program>

  /// From a segment's boundary to the form inside, where those differ; nil where only the dense layout is reached. Of
  /// float32 that lies as float16 inside, finite numbers stay finite (`Float.finiteHalfBits`).
  func enter(_ type: TensorType, _ layout: ValueLayout) -> KernelDispatch<Program>?
  /// From the dense form inside to the segment's boundary, where those differ.
  func leave(_ type: TensorType) -> KernelDispatch<Program>
  /// From the dense layout to the blocked one.
  func block(_ shape: BlockedShape) -> KernelDispatch<Program>
  /// From the blocked layout to the dense one.
  func unblock(_ shape: BlockedShape) -> KernelDispatch<Program>

  // Nodes whose kernels depend on the device: which there are, and in which layouts they work; best first.

  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  /// - Parameter iteration: over the operands, which are floats.
  func offers(_ op: Binary, _ iteration: StridedIteration, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  func offers(_ op: Convolution, _ window: SpatialWindow, _ context: KernelContext<Self>) throws(DeviceError)
    -> [GPUOffer<Self>]
  func offers(_ op: ConvolutionTranspose, _ window: SpatialWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  /// Weights and bias are constant.
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  func offers(_ op: Reduce, _ context: KernelContext<Self>) throws(DeviceError) -> [GPUOffer<Self>]
}

extension GPUTarget {
  /// The layout of blocked tensors.
  package var blocks: ValueLayout { .blocks(of: lanes) }

  /// The same target as it serves who asks for a precision.
  func reaching(_ precision: Precision) -> Self {
    var target = self
    target.halves = halves.reaching(precision)
    return target
  }

  /// Whether an element looks the same at a segment's boundary and inside.
  package func isSameOutside(_ scalar: ScalarType) -> Bool {
    isHalf(scalar) ? scalar == .float16 : byteCount(scalar) == scalar.byteCount
  }

  package func seesElements(_ count: Int) -> Bool { true }

  /// Whether elements lie as float16 inside a segment.
  package func isHalf(_ scalar: ScalarType) -> Bool { halves.contains(scalar) }
}
