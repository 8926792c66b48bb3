import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A device whose programs are names and whose weights are their keys: what it would run can be read off a lowered
/// graph.
struct NamingTarget: GPUTarget {
  let device = "naming:0"
  let lanes = 4
  var clearsLanes = false
  var iterationLimit = Int.max
  let numbersPerTap = 3
  let attentionLimits = AttentionLimits(lanes: 4, width: 128, keys: 8)

  /// Every kernel but softmax has a variant for floats stored as float16.
  var halves = HalfStorage.none
  /// Elements of a tensor that kernels can see.
  var elementLimit = Int.max
  let unpacksWeights = false
  var lineGroup: Int?
  let writesOperands = true

  typealias Program = String

  func byteCount(_ scalar: ScalarType) -> Int { isHalf(scalar) ? 2 : scalar == .float16 ? 4 : scalar.byteCount }
  func storedColumns(_ columns: Int) -> Int { columns }
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
  func widen(count: Int) -> KernelDispatch<String> { call() }
  func narrow(count: Int) -> KernelDispatch<String> { call() }
  func enter(_ type: TensorType, _ layout: ValueLayout) -> KernelDispatch<String>? {
    layout == .dense ? named("enter") : nil
  }
  func leave(_ type: TensorType) -> KernelDispatch<String> { named("leave") }
  func block(_ shape: BlockedShape) -> KernelDispatch<String> { named("block") }
  func unblock(_ shape: BlockedShape) -> KernelDispatch<String> { named("unblock") }

  /// The name has the number of parts of rows that groups share, of floats in any layout, and the sizes of padding.
  func dispatch(_ kernel: GPUKernel) -> KernelDispatch<String> {
    let parameters = kernel.parameters.words
    switch kernel.grid {
    case .groups(let groups) where kernel.name == "reduce":
      let (isFirst, isLast) = (parameters[1] == 1, parameters[2] == 1)
      return named("reduce \(groups.parts)\(isFirst ? " first" : "")\(isLast ? " last" : "")")
    case .groups(let groups):
      return named("\(kernel.name) \(kernel.makesParts ? "statistics" : "result") of \(groups.parts)")
    case .rows(_, let length, _) where kernel.name == "pad":
      let outer = parameters[3..<10].map { Int($0) }.prefix { $0 > 1 }
      return named("pad \(Array(outer.reversed()) + [length])")
    case .rows, .shared: return named(kernel.variant.map { "\(kernel.name) \($0)" } ?? kernel.name)
    case .vectors(let count): return named("\(kernel.name) of \(count)")
    }
  }
  func attention(_ plan: AttentionPlan) -> KernelDispatch<String> { call() }
  func fuses(_ function: UnaryFunction) -> Bool { true }
  func integerProduct(_ plan: IntegerProductPlan) -> KernelDispatch<String> { call() }
  func layerNormalization(_ op: LayerNormalization, _ groups: RowGroups, _ pass: RowPass, inputs: Int)
    -> KernelDispatch<String>
  {
    call(suffix: " \(pass)")
  }
  func linear(_: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?)
    -> KernelDispatch<String>
  {
    call()
  }
  func matmul(_ plan: MatMulPlan) -> KernelDispatch<String> { call() }
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> KernelDispatch<String> { call() }
  func resize(_ pass: ResizePass) -> KernelDispatch<String> { call() }
  func softmax(_ lines: ReductionRows) -> KernelDispatch<String> { call() }

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
