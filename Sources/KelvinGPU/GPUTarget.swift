package import KelvinDevices
package import KelvinGraph

/// The differences between GPU interfaces: element storage, how a kernel becomes a dispatch, and kernels that depend on
/// the device. `Lowering` and `Kernels/` hold the parts that are the same for every interface.
///
/// A method for a kernel gets sizes in elements and returns the dispatch; `Lowering` adds the memory.
package protocol GPUTarget: Sendable {
  associatedtype Program: Hashable, Sendable

  /// The device's id, for messages.
  var device: String { get }
  /// Channels in a block.
  var lanes: Int { get }
  /// Whether every kernel writes zeros to the lanes beyond a tensor's channels, and expects zeros there.
  var clearsLanes: Bool { get }
  /// The number of loop iterations after which the driver ends an invocation of a kernel, finished or not.
  var iterationLimit: Int { get }
  /// Numbers that resize kernels read for each output position: lower source position, upper one, weight of the upper
  /// one, then padding.
  var numbersPerTap: Int { get }
  /// Invocations in the groups that share rows, a power of two; nil if one invocation for each row is best.
  var lineGroup: Int? { get }
  /// The most invocations of a group of a kernel that chooses their number (`GPUKernel.Grid.shared`).
  var widestGroup: Int { get }
  /// Whether a kernel can write operands beside its result.
  var writesOperands: Bool { get }
  /// Whether product kernels apply an activation themselves; otherwise the activation runs in a kernel of its own.
  func fuses(_ function: UnaryFunction) -> Bool
  /// The limits of the attention kernel.
  var attentionLimits: AttentionLimits { get }

  /// The float types stored as float16 inside a segment; the others are stored as float32. A requested precision may
  /// change the set.
  var halves: HalfStorage { get set }
  /// Whether products unpack quantized weights as they read them; otherwise weights are expanded beforehand.
  var unpacksWeights: Bool { get }

  /// Bytes that an element takes inside a segment.
  func byteCount(_ scalar: ScalarType) -> Int
  /// Returns the number of columns that integer product kernels expect weights to be stored with.
  func storedColumns(_ columns: Int) -> Int
  /// The limit that a tensor exceeds so that kernels cannot address all of it, as a phrase; nil if it is within limits.
  /// A node with a tensor that is too large is computed in parts.
  func sizeFault(_ type: TensorType, isConstant: Bool) -> String?
  /// Whether kernels that read elements one by one can address this many; blocks take more elements than the dense
  /// tensor does.
  func seesElements(_ count: Int) -> Bool
  /// The memory limit of the device that a tensor exceeds, as a phrase; nil if it is within limits.
  func memoryFault(_ type: TensorType) -> String?

  /// Returns the variant of a kernel for floats stored as float16; nil if there is none. A program that only moves such
  /// elements is its own variant.
  func halved(_ program: Program, _ form: HalfStorageMode) -> Program?
  /// Converts float16 elements to float32, in any layout.
  func widen(count: Int) -> KernelDispatch<Program>
  /// Converts float32 elements to float16, rounded to nearest even, in any layout.
  func narrow(count: Int) -> KernelDispatch<Program>

  /// Converts from the storage at a segment's boundary to the storage inside, if these differ; nil if only the dense
  /// layout can be reached. Finite float32 numbers that become float16 stay finite (`Float.finiteHalfBits`).
  func enter(_ type: TensorType, _ layout: ValueLayout) -> KernelDispatch<Program>?
  /// Converts from the dense storage inside a segment to the storage at its boundary, if these differ.
  func leave(_ type: TensorType) -> KernelDispatch<Program>
  /// Converts the dense layout to the blocked layout.
  func block(_ shape: BlockedShape) -> KernelDispatch<Program>
  /// Converts the blocked layout to the dense layout.
  func unblock(_ shape: BlockedShape) -> KernelDispatch<Program>

  /// Returns the dispatch of a kernel that both devices have.
  func dispatch(_ kernel: GPUKernel) -> KernelDispatch<Program>

  // Kernels that depend on the device. They read dense operands in the order of the node's inputs and write one dense
  // result, with these exceptions:
  //
  // - `attention` reads a mask and `layerNormalization` x, scale, shift and statistics; an operand that the node lacks is
  //   replaced by x, or by the queries.
  // - `integerProduct` reads the operands of its plan.
  // - `linear` reads x, packed weights, bias and a residual, or x again if there is none.
  // - `pool` works on `planes` blocks.
  // - `resize` reads x and its positions, in the pass's layout.

  func attention(_ plan: AttentionPlan) -> KernelDispatch<Program>
  /// Attention whose groups share slabs of keys and values in local memory, and the number of groups that share the keys
  /// of a query (`Shaders/shared/attention_sum.kernel`); nil if the device has no such kernel for it.
  func stagedAttention(_ plan: AttentionPlan) -> (call: KernelDispatch<Program>, parts: Int)?
  func integerProduct(_ plan: IntegerProductPlan) -> KernelDispatch<Program>
  func layerNormalization(_ op: LayerNormalization, _: RowGroups, _: RowPass, inputs: Int) -> KernelDispatch<Program>
  func linear(_: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?)
    -> KernelDispatch<Program>
  func matmul(_ plan: MatMulPlan) -> KernelDispatch<Program>
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> KernelDispatch<Program>
  func resize(_ pass: ResizePass) -> KernelDispatch<Program>
  func softmax(_ lines: ReductionRows) -> KernelDispatch<Program>

  // Kernel offers of nodes whose kernels depend on the device, in their layouts, best first.

  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  /// - Parameter iteration: the iteration over the operands, which are floats.
  func offers(_ op: Binary, _ iteration: StridedIteration, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  func offers(_ op: Convolution, _ window: SpatialWindow, _ context: KernelContext<Self>) throws(DeviceError)
    -> [GPUOffer<Self>]
  func offers(_ op: ConvolutionTranspose, _ window: SpatialWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  /// Implementations of an integer product with constant weights beside `integerProduct`. They read x and write the
  /// result as it does, and pack weights in an order of their own.
  func offers(_ plan: IntegerProductPlan, _ weights: IntegerWeights, _ context: KernelContext<Self>)
    -> [GPUOffer<Self>]
  /// Weights and bias are constant.
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  func offers(_ op: Reduce, _ context: KernelContext<Self>) throws(DeviceError) -> [GPUOffer<Self>]
}

extension GPUTarget {
  /// The layout of blocked tensors.
  package var blocks: ValueLayout { .blocks(of: lanes) }

  /// Returns the target with the float storage that a requested precision allows.
  func reaching(_ precision: Precision) -> Self {
    var target = self
    target.halves = halves.reaching(precision)
    return target
  }

  /// Whether an element is stored the same way at a segment's boundary and inside.
  package func isSameOutside(_ scalar: ScalarType) -> Bool {
    isHalf(scalar) ? scalar == .float16 : byteCount(scalar) == scalar.byteCount
  }

  package func seesElements(_ count: Int) -> Bool { true }

  package func offers(_ plan: IntegerProductPlan, _ weights: IntegerWeights, _ context: KernelContext<Self>)
    -> [GPUOffer<Self>]
  {
    []
  }
  package var widestGroup: Int { lineGroup ?? 1 }

  package func stagedAttention(_ plan: AttentionPlan) -> (call: KernelDispatch<Program>, parts: Int)? { nil }

  /// Whether elements of a type are stored as float16 inside a segment.
  package func isHalf(_ scalar: ScalarType) -> Bool { halves.contains(scalar) }
}
