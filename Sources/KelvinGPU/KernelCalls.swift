package import KelvinDevices
package import KelvinGraph

/// The kernels that every GPU device has one of, each as the call of it, in the order of their names.
///
/// Kernels read dense operands in the order of the node's inputs, and write one dense result, but for these: `resize`
/// reads x and its positions, in the pass's layout; `layerNormalization` reads x, scale, shift and statistics, x
/// again in place of those that the node lacks, as `attention` reads queries in place of a mask; `softmax` by groups
/// reads x and statistics, which both make of x alone (`LinePass`); `argReduce` by groups reads x and the positions that the
/// pass before wrote, or x again, and `runningSum` x and the totals of parts; `linear` reads x, packed weights, bias and a
/// residual, x in its place where there is none; `localResponseNormalization` and `pool` work on blocked tensors,
/// `pool` on `planes` blocks; `binaryInteger` reads two operands, `convolutionVolume` and `integerProduct` what their
/// plans say; `copy` moves units of `byteCount` bytes; `rank` reads x and, but for the first pass, what the pass
/// before wrote; `scatterElements` and `scatterND` read indices and updates, and change what they write;
/// `roundToHalf` rounds float32 to what a float16 holds; `unary` takes either layout, whose elements are counted.
package protocol KernelCalls: Sendable {
  associatedtype Program: Hashable, Sendable

  func argReduce(_ op: ArgReduce, _ lines: Lines, of scalar: ScalarType) -> Call<Program>
  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> Call<Program>
  func attention(_ plan: AttentionPlan) -> Call<Program>
  func binaryInteger(_ plan: BinaryIntegerPlan) -> Call<Program>
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> Call<Program>
  func compare(_ op: Compare, _ walk: Walk, of scalar: ScalarType) -> Call<Program>
  func convolutionVolume(_ plan: VolumeConvolutionPlan) -> Call<Program>
  func copy(_ copy: StridedCopy, byteCount: Int) -> Call<Program>
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: Lines, of scalar: ScalarType) -> Call<Program>
  func dequantize(_ plan: QuantizationPlan) -> Call<Program>
  func gather(_ plan: GatherPlan) -> Call<Program>
  func gather(_ plan: GatherPlan, of codes: CodedOperand) -> Call<Program>
  func gatherElements(_ plan: GatherElementsPlan) -> Call<Program>
  func gatherND(_ plan: GatherNDPlan) -> Call<Program>
  func integerBinary(_ op: Binary, _ walk: Walk, of scalar: ScalarType) -> Call<Program>
  func integerProduct(_ plan: IntegerProductPlan) -> Call<Program>
  func integerUnary(_ function: UnaryFunction, of scalar: ScalarType, count: Int) -> Call<Program>
  func layerNormalization(_ op: LayerNormalization, _: LineGroups, _: LinePass, inputs: Int) -> Call<Program>
  func linear(_: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: CodedOperand?) -> Call<Program>
  func localResponseNormalization(_ op: LocalResponseNormalization, _ shape: BlockedShape) -> Call<Program>
  func matmul(_ plan: MatMulPlan) -> Call<Program>
  func pad(_ plan: PadPlan) -> Call<Program>
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> Call<Program>
  func poolVolume(_ function: Pool.Function, _ window: SpatialWindow, planes: Int, of: ScalarType) -> Call<Program>
  func quantize(_ plan: QuantizationPlan) -> Call<Program>
  func randomUniform(_ op: RandomUniform, count: Int) -> Call<Program>
  func rank(_ pass: RankPass) -> Call<Program>
  func reduce(_ function: Reduce.Function, _ pass: ReducePass) -> Call<Program>
  func resize(_ pass: ResizePass) -> Call<Program>
  func roundToHalf(count: Int) -> Call<Program>
  func runningSum(_ sum: RunningSum) -> Call<Program>
  func scatterElements(_ plan: ScatterElementsPlan) -> Call<Program>
  func scatterND(_ plan: ScatterNDPlan) -> Call<Program>
  func select(_ walk: Walk, of scalar: ScalarType) -> Call<Program>
  func softmax(_ groups: LineGroups, _ pass: LinePass) -> Call<Program>
  func softmax(_ lines: Lines) -> Call<Program>
  func unary(_ function: UnaryFunction, count: Int) -> Call<Program>
}
