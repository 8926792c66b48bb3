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

  /// Every kernel but softmax has a form for floats that lie as float16.
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
  private func call(_ method: String = #function, suffix: String = "") -> Call<String> {
    named(method.prefix { $0 != "(" } + suffix)
  }
  private func named(_ name: String) -> Call<String> { Call(name, Parameters(), grid: [1, 1, 1]) }

  func halved(_ program: String, _ form: HalfStorageMode) -> String? {
    program == "softmax" ? nil : "half \(form == .weights ? "weights of " : "")\(program)"
  }
  func randomUniform(_ op: RandomUniform, count: Int) -> Call<String> { call() }
  func widen(count: Int) -> Call<String> { call() }
  func narrow(count: Int) -> Call<String> { call() }
  func enter(_ type: TensorType, _ layout: ValueLayout) -> Call<String>? { layout == .dense ? named("enter") : nil }
  func leave(_ type: TensorType) -> Call<String> { named("leave") }
  func block(_ shape: BlockedShape) -> Call<String> { named("block") }
  func unblock(_ shape: BlockedShape) -> Call<String> { named("unblock") }

  func argReduce(_ op: ArgReduce, _ lines: Lines, of scalar: ScalarType) -> Call<String> { call() }
  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> Call<String> { call() }
  func attention(_ plan: AttentionPlan) -> Call<String> { call() }
  func binaryInteger(_ plan: BinaryIntegerPlan) -> Call<String> { call() }
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> Call<String> { call() }
  func compare(_ op: Compare, _ walk: Walk, of scalar: ScalarType) -> Call<String> { call() }
  func convolutionVolume(_ plan: VolumeConvolutionPlan) -> Call<String> { call() }
  func copy(_ copy: StridedCopy, byteCount: Int) -> Call<String> { call() }
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: Lines, of scalar: ScalarType) -> Call<String> { call() }
  func dequantize(_ plan: QuantizationPlan) -> Call<String> { call() }
  func gather(_ plan: GatherPlan) -> Call<String> { call() }
  func gather(_ plan: GatherPlan, of codes: CodedOperand) -> Call<String> { call(suffix: " of codes") }
  func gatherElements(_ plan: GatherElementsPlan) -> Call<String> { call() }
  func gatherND(_ plan: GatherNDPlan) -> Call<String> { call() }
  func integerBinary(_ op: Binary, _ walk: Walk, of scalar: ScalarType) -> Call<String> { call() }
  func integerProduct(_ plan: IntegerProductPlan) -> Call<String> { call() }
  func integerUnary(_ function: UnaryFunction, of scalar: ScalarType, count: Int) -> Call<String> { call() }
  func layerNormalization(_ op: LayerNormalization, _ groups: LineGroups, _ pass: LinePass, inputs: Int) -> Call<
    String
  > { call(suffix: " \(pass)") }
  func fuses(_ function: UnaryFunction) -> Bool { true }
  func linear(_: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: CodedOperand?) -> Call<String> {
    call()
  }
  func localResponseNormalization(_ op: LocalResponseNormalization, _ shape: BlockedShape) -> Call<String> { call() }
  func matmul(_ plan: MatMulPlan) -> Call<String> { call() }
  func pad(_ plan: PadPlan) -> Call<String> { call(suffix: " \(plan.axes.map(\.size))") }
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> Call<String> { call() }
  func poolVolume(_: Pool.Function, _: SpatialWindow, planes: Int, of: ScalarType) -> Call<String> { call() }
  func quantize(_ plan: QuantizationPlan) -> Call<String> { call() }
  func rank(_ pass: RankPass) -> Call<String> { call() }
  func reduce(_ function: Reduce.Function, _ pass: ReducePass) -> Call<String> {
    call(suffix: " \(pass.groups.parts)\(pass.isFirst ? " first" : "")\(pass.isLast ? " last" : "")")
  }
  func resize(_ pass: ResizePass) -> Call<String> { call() }
  func roundToHalf(count: Int) -> Call<String> { call() }
  func runningSum(_ sum: RunningSum) -> Call<String> { call() }
  func scatterElements(_ plan: ScatterElementsPlan) -> Call<String> { call() }
  func scatterND(_ plan: ScatterNDPlan) -> Call<String> { call() }
  func select(_ walk: Walk, of scalar: ScalarType) -> Call<String> { call() }
  func softmax(_ lines: Lines) -> Call<String> { call() }
  func softmax(_ groups: LineGroups, _ pass: LinePass) -> Call<String> { call(suffix: " \(pass) of \(groups.parts)") }
  func unary(_ function: UnaryFunction, count: Int) -> Call<String> { call(suffix: " of \(count)") }

  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>] { dense(op, context) }
  func offers(_ op: Binary, _ walk: Walk, _ context: KernelContext<Self>) -> [GPUOffer<Self>] { dense(op, context) }
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
