import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A device whose programs are names and whose weights are their keys: what it would run can be read off a lowered
/// graph.
struct NamingTarget: GPUTarget {
  let device = "naming:0"
  let lanes = 4
  var clearsLanes = false
  let copyRank = 8
  var iterationLimit = Int.max
  let numbersPerTap = 3
  let attentionLimits = AttentionLimits(lanes: 4, width: 128, keys: 8)

  /// Every kernel but softmax has a variant for floats stored as float16.
  var halves = HalfStorage.none
  /// Elements of a tensor that kernels can see.
  var elementLimit = Int.max
  let unpacksWeights = false
  var lineGroup: Int?

  typealias Program = String

  func byteCount(_ scalar: ScalarType) -> Int { isHalf(scalar) ? 2 : scalar == .float16 ? 4 : scalar.byteCount }
  func copyUnit(_ scalar: ScalarType) -> Int { byteCount(scalar) }
  func storedColumns(_ columns: Int) -> Int { columns }
  func padRank(of scalar: ScalarType) -> Int { 8 }
  func sizeFault(_ type: TensorType, isConstant: Bool) -> String? {
    type.count > elementLimit ? "\(elementLimit) elements" : nil
  }
  func memoryFault(_ type: TensorType) -> String? { nil }

  /// Called as the method that asks.
  private func call(_ method: String = #function, suffix: String = "") -> KernelDispatch<String> {
    named(method.prefix { $0 != "(" } + suffix)
  }
  private func named(_ name: String) -> KernelDispatch<String> { KernelDispatch(name, Parameters(), grid: [1, 1, 1]) }

  func halved(_ program: String, _ form: HalfStorageMode) -> String? {
    program == "softmax" ? nil : "half \(form == .weights ? "weights of " : "")\(program)"
  }
  func randomUniform(_ op: RandomUniform, count: Int) -> KernelDispatch<String> { call() }
  func widen(count: Int) -> KernelDispatch<String> { call() }
  func narrow(count: Int) -> KernelDispatch<String> { call() }
  func enter(_ type: TensorType, _ layout: ValueLayout) -> KernelDispatch<String>? {
    layout == .dense ? named("enter") : nil
  }
  func leave(_ type: TensorType) -> KernelDispatch<String> { named("leave") }
  func block(_ shape: BlockedShape) -> KernelDispatch<String> { named("block") }
  func unblock(_ shape: BlockedShape) -> KernelDispatch<String> { named("unblock") }

  func argReduce(_ op: ArgReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<String> { call() }
  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> KernelDispatch<String> { call() }
  func attention(_ plan: AttentionPlan) -> KernelDispatch<String> { call() }
  func binaryInteger(_ plan: BinaryIntegerPlan) -> KernelDispatch<String> { call() }
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> KernelDispatch<String> { call() }
  func compare(_ op: Compare, _ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<String> { call() }
  func convolutionVolume(_ plan: VolumeConvolutionPlan) -> KernelDispatch<String> { call() }
  func copy(_ copy: StridedCopy, byteCount: Int) -> KernelDispatch<String> { call() }
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<String>
  { call() }
  func dequantize(_ plan: QuantizationPlan) -> KernelDispatch<String> { call() }
  func gather(_ plan: GatherPlan) -> KernelDispatch<String> { call() }
  func gather(_ plan: GatherPlan, of codes: QuantizedOperand) -> KernelDispatch<String> { call(suffix: " of codes") }
  func gatherElements(_ plan: GatherElementsPlan) -> KernelDispatch<String> { call() }
  func gatherND(_ plan: GatherNDPlan) -> KernelDispatch<String> { call() }
  func integerBinary(_ op: Binary, _ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<String> {
    call()
  }
  func integerProduct(_ plan: IntegerProductPlan) -> KernelDispatch<String> { call() }
  func integerUnary(_ function: UnaryFunction, of scalar: ScalarType, count: Int) -> KernelDispatch<String> { call() }
  func layerNormalization(_ op: LayerNormalization, _ groups: RowGroups, _ pass: RowPass, inputs: Int)
    -> KernelDispatch<
      String
    >
  { call(suffix: " \(pass)") }
  func fuses(_ function: UnaryFunction) -> Bool { true }
  func linear(_: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?)
    -> KernelDispatch<String>
  {
    call()
  }
  func localResponseNormalization(_ op: LocalResponseNormalization, _ shape: BlockedShape) -> KernelDispatch<String> {
    call()
  }
  func matmul(_ plan: MatMulPlan) -> KernelDispatch<String> { call() }
  func pad(_ plan: PadPlan) -> KernelDispatch<String> { call(suffix: " \(plan.axes.map(\.size))") }
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> KernelDispatch<String> { call() }
  func poolVolume(_: Pool.Function, _: SpatialWindow, planes: Int, of: ScalarType) -> KernelDispatch<String> { call() }
  func quantize(_ plan: QuantizationPlan) -> KernelDispatch<String> { call() }
  func rank(_ pass: RankPass) -> KernelDispatch<String> { call() }
  func reduce(_ function: Reduce.Function, _ pass: ReducePass) -> KernelDispatch<String> {
    call(suffix: " \(pass.groups.parts)\(pass.isFirst ? " first" : "")\(pass.isLast ? " last" : "")")
  }
  func resize(_ pass: ResizePass) -> KernelDispatch<String> { call() }
  func roundToHalf(count: Int) -> KernelDispatch<String> { call() }
  func runningSum(_ sum: RunningSum) -> KernelDispatch<String> { call() }
  func scatterElements(_ plan: ScatterElementsPlan) -> KernelDispatch<String> { call() }
  func scatterND(_ plan: ScatterNDPlan) -> KernelDispatch<String> { call() }
  func select(_ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<String> { call() }
  func softmax(_ lines: ReductionRows) -> KernelDispatch<String> { call() }
  func softmax(_ groups: RowGroups, _ pass: RowPass) -> KernelDispatch<String> {
    call(suffix: " \(pass) of \(groups.parts)")
  }
  func unary(_ function: UnaryFunction, count: Int) -> KernelDispatch<String> { call(suffix: " of \(count)") }

  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>] { dense(op, context) }
  func offers(_ op: Binary, _ iteration: StridedIteration, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    dense(op, context)
  }
  func offers(_ op: Convolution, _ window: SpatialWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    [context.blocked(named(op.name))]
  }
  func offers(_ op: ConvolutionTranspose, _ window: SpatialWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    [context.blocked(named(op.name))]
  }
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>] { dense(op, context) }
  func offers(_ op: Reduce, _ context: KernelContext<Self>) -> [GPUOffer<Self>] { dense(op, context) }

  private func dense(_ op: any Operator, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    [KernelOffer(context.dense(named(op.name)))]
  }
}
