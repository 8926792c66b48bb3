package import KelvinDevices
package import KelvinGraph

/// What differs between GPU interfaces: how elements lie, and how each kernel is named, fed and spread over a grid.
/// What is the same, from a node to the kernels that compute it, is `Lowering` and `Kernels/`.
///
/// A method for a kernel is told sizes in elements and answers with the call; `Lowering` adds the memory.
package protocol GPUTarget: KernelCalls {
  /// A packed weight in the device's memory.
  associatedtype Weight: Sendable

  /// The device's id, for messages.
  var device: String { get }
  /// Channels in a block.
  var lanes: Int { get }
  /// Whether every kernel leaves zeros in the lanes beyond a tensor's channels, and expects them there.
  var clearsLanes: Bool { get }
  /// How many axes copies take, of units.
  var copyRank: Int { get }
  /// Numbers that the kernels of resizing read for each output position: lower source position, upper one, share of the
  /// upper one, then fillers.
  var numbersPerTap: Int { get }
  /// What the kernel of attention takes.
  var attentionLimits: AttentionLimits { get }

  /// Whether float16 elements lie as such inside a segment, else as float32.
  var storesHalves: Bool { get }
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
  /// - Throws: `.unsupported` where a tensor of the node is too large for the device.
  func checkSizes(_ context: KernelContext<Self>) throws(DeviceError)

  /// The kernel whose floats lie as float16, operands and result alike; nil where there is none. A program that moves
  /// such elements is its own.
  func halved(_ program: Program) -> Program?
  /// From float16 elements to float32, in any layout.
  func widen(count: Int) -> Call<Program>
  /// From float32 elements to float16, rounded to nearest even, in any layout.
  func narrow(count: Int) -> Call<Program>

  /// From a segment's boundary to the form inside, where those differ; nil where only the dense layout is reached.
  func enter(_ type: TensorType, _ layout: ValueLayout) -> Call<Program>?
  /// From the dense form inside to the segment's boundary, where those differ.
  func leave(_ type: TensorType) -> Call<Program>
  /// From the dense layout to the blocked one.
  func block(_ shape: BlockedShape) -> Call<Program>
  /// From the blocked layout to the dense one.
  func unblock(_ shape: BlockedShape) -> Call<Program>

  // Nodes whose kernels depend on the device: which there are, and in which layouts they work; best first.

  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
  /// - Parameter walk: over the operands, which are floats.
  func offers(_ op: Binary, _ walk: Walk, _ context: KernelContext<Self>) -> [GPUOffer<Self>]
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

  /// Whether an element looks the same at a segment's boundary and inside.
  package func isSameOutside(_ scalar: ScalarType) -> Bool {
    scalar == .float16 ? storesHalves : byteCount(scalar) == scalar.byteCount
  }

  /// Whether elements lie as float16 inside a segment.
  package func isHalf(_ scalar: ScalarType) -> Bool {
    scalar == .float16 && storesHalves
  }
}
