package import KelvinDevices
package import KelvinGraph

/// The kernels that every GPU device has, each as the dispatch that runs it, in alphabetical order.
///
/// Kernels read dense operands in the order of the node's inputs and write one dense result, with these exceptions:
///
/// - `resize` reads x and its positions, in the pass's layout.
/// - `layerNormalization` reads x, scale, shift and statistics, and `attention` a mask; an operand that the node lacks
///   is replaced by x, or by the queries.
/// - `softmax` by groups reads x and statistics; the pass for statistics reads x alone (`RowPass`).
/// - `argReduce` by groups reads x and the positions that the previous pass wrote, or x again.
/// - `runningSum` reads x and the totals of parts.
/// - `linear` reads x, packed weights, bias and a residual, or x again if there is none.
/// - `localResponseNormalization` and `pool` work on blocked tensors, `pool` on `planes` blocks.
/// - `binaryInteger` reads two operands; `convolutionVolume` and `integerProduct` read the operands of their plans.
/// - `copy` moves units of `byteCount` bytes.
/// - `rank` reads x and, after the first pass, the result of the previous pass.
/// - `scatterElements` and `scatterND` read indices and updates, and change the tensor that they write.
/// - `roundToHalf` rounds float32 to numbers that a float16 holds.
/// - `unary` takes either layout and gets the number of elements.
package protocol KernelDispatches: Sendable {
  associatedtype Program: Hashable, Sendable

  func argReduce(_ op: ArgReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<Program>
  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> KernelDispatch<Program>
  func attention(_ plan: AttentionPlan) -> KernelDispatch<Program>
  func binaryInteger(_ plan: BinaryIntegerPlan) -> KernelDispatch<Program>
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> KernelDispatch<Program>
  func compare(_ op: Compare, _ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<Program>
  func convolutionVolume(_ plan: VolumeConvolutionPlan) -> KernelDispatch<Program>
  func copy(_ copy: StridedCopy, byteCount: Int) -> KernelDispatch<Program>
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<
    Program
  >
  func dequantize(_ plan: QuantizationPlan) -> KernelDispatch<Program>
  func gather(_ plan: GatherPlan) -> KernelDispatch<Program>
  func gather(_ plan: GatherPlan, of codes: QuantizedOperand) -> KernelDispatch<Program>
  func gatherElements(_ plan: GatherElementsPlan) -> KernelDispatch<Program>
  func gatherND(_ plan: GatherNDPlan) -> KernelDispatch<Program>
  func integerBinary(_ op: Binary, _ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<Program>
  func integerProduct(_ plan: IntegerProductPlan) -> KernelDispatch<Program>
  func integerUnary(_ function: UnaryFunction, of scalar: ScalarType, count: Int) -> KernelDispatch<Program>
  func layerNormalization(_ op: LayerNormalization, _: RowGroups, _: RowPass, inputs: Int) -> KernelDispatch<Program>
  func linear(_: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?)
    -> KernelDispatch<Program>
  func localResponseNormalization(_ op: LocalResponseNormalization, _ shape: BlockedShape) -> KernelDispatch<Program>
  func matmul(_ plan: MatMulPlan) -> KernelDispatch<Program>
  func pad(_ plan: PadPlan) -> KernelDispatch<Program>
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> KernelDispatch<Program>
  func poolVolume(_ function: Pool.Function, _ window: SpatialWindow, planes: Int, of: ScalarType) -> KernelDispatch<
    Program
  >
  func quantize(_ plan: QuantizationPlan) -> KernelDispatch<Program>
  func randomUniform(_ op: RandomUniform, count: Int) -> KernelDispatch<Program>
  func rank(_ pass: RankPass) -> KernelDispatch<Program>
  func reduce(_ function: Reduce.Function, _ pass: ReducePass) -> KernelDispatch<Program>
  func resize(_ pass: ResizePass) -> KernelDispatch<Program>
  func roundToHalf(count: Int) -> KernelDispatch<Program>
  func runningSum(_ sum: RunningSum) -> KernelDispatch<Program>
  func scatterElements(_ plan: ScatterElementsPlan) -> KernelDispatch<Program>
  func scatterND(_ plan: ScatterNDPlan) -> KernelDispatch<Program>
  func select(_ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<Program>
  func softmax(_ groups: RowGroups, _ pass: RowPass) -> KernelDispatch<Program>
  func softmax(_ lines: ReductionRows) -> KernelDispatch<Program>
  func unary(_ function: UnaryFunction, count: Int) -> KernelDispatch<Program>
}
