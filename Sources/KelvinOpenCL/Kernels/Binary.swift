internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addBinary() {
    add(Binary.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let dense = BroadcastPlan(context.outputs[0].shape, context.inputs[0].shape, context.inputs[1].shape)
      try dense.check(context)
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint else {
        return walking(
          dense, KernelName(program: "integer", defines: scalar.wideDefines, function: "integer_binary"),
          [.int(Int(op.code))])
      }
      return Emitter { lowering throws(DeviceError) in
        let (x, y, z) = (lowering.node.inputs[0], lowering.node.inputs[1], lowering.node.outputs[0])
        let shapes = [x, y, z].map { lowering.type($0).shape }
        guard lowering.isBlocked(x) || lowering.isBlocked(y), !lowering.isOnlyOutput(z),
          let blocked = BroadcastPlan(blocked: shapes[2], shapes[0], shapes[1], lowering.tuning)
        else {
          let left = try lowering.place(x, .dense)
          let right = try lowering.place(y, .dense)
          lowering.binary(op, dense, left, right, lowering.make(z, .dense))
          return
        }
        let left = try lowering.place(x, shapes[0].count == 1 ? .dense : .blocked)
        let right = try lowering.place(y, shapes[1].count == 1 ? .dense : .blocked)
        lowering.binary(op, blocked, left, right, lowering.make(z, .blocked))
      }
    }
  }
}

/// How operands and their broadcast result are walked together.
struct BroadcastPlan: Sendable {
  struct Axis: Sendable {
    var size: Int
    /// Of each operand.
    var strides: [Int]
  }
  /// Outermost first, the row last; neighbours that all operands walk alike are one axis.
  private(set) var axes: [Axis] = []

  /// How many axes the kernels take, the row included.
  static let maximumRank = 6

  init(_ result: Shape, _ operands: Shape...) { self.init(result, operands) }

  init(_ result: Shape, _ operands: [Shape]) {
    self.init(result, strides: operands.map { Self.strides($0, in: result) })
  }

  /// - Parameter strides: of each operand along each axis of the result.
  init(_ result: Shape, strides: [[Int]]) {
    for index in 0..<result.rank where result[index] != 1 {
      let axis = Axis(size: result[index], strides: strides.map { $0[index] })
      if let last = axes.last, zip(last.strides, axis.strides).allSatisfy({ $0 == $1 * axis.size }) {
        axes[axes.count - 1] = Axis(size: last.size * axis.size, strides: axis.strides)
      } else {
        axes.append(axis)
      }
    }
    if axes.isEmpty { axes = [Axis(size: 1, strides: strides.map { _ in 1 })] }
  }

  func check(_ context: NodeContext) throws(DeviceError) {
    guard axes.count <= Self.maximumRank else {
      throw context.unsupported("broadcasting over more than \(Self.maximumRank) axes")
    }
  }

  /// The walk over blocked operands, or nil where an operand's blocks do not match the result's.
  init?(blocked result: Shape, _ x: Shape, _ y: Shape, _ tuning: Tuning) {
    func view(_ shape: Shape) -> Shape? {
      if shape.count == 1 { return Shape(Array(repeating: 1, count: result.rank + 1)) }
      guard shape.rank == result.rank, shape[1] == result[1] else { return nil }
      return Shape([shape[0], tuning.blocks(shape[1])] + shape.dimensions.dropFirst(2) + [tuning.lanes])
    }
    guard result.rank >= 2, let z = view(result), let x = view(x), let y = view(y) else { return nil }
    self.init(z, x, y)
    if axes.count > Self.maximumRank { return nil }
  }

  private static func strides(_ shape: Shape, in result: Shape) -> [Int] {
    let own = shape.strides
    let missing = result.rank - shape.rank
    return (0..<result.rank).map { index in
      index < missing || shape[index - missing] == 1 ? 0 : own[index - missing]
    }
  }
}

extension Lowering {
  mutating func binary(_ op: Binary, _ plan: BroadcastPlan, _ x: Int, _ y: Int, _ z: Int) {
    walk(plan, KernelName(program: "binary", function: "binary"), [x, y, z], [.int(Int(op.code))], step: tuning.lanes)
  }

  /// Adds a kernel run that walks the plan: sizes of rows, then `constants`, then each operand's step in a row, the
  /// sizes of the other axes and each operand's strides along them.
  ///
  /// - Parameter step: how many elements of a row an item handles at least.
  mutating func walk(
    _ plan: BroadcastPlan, _ kernel: KernelName, _ buffers: [Int], _ constants: [Constant], step: Int = 1
  ) {
    let outer = plan.axes.dropLast()
    let row = plan.axes[plan.axes.count - 1]
    let rowCount = outer.reduce(1) { $0 * $1.size }
    let missing = BroadcastPlan.maximumRank - 1 - outer.count
    let rows = max(tuning.run / max(row.size, 1), 1)
    let run = max(tuning.run, step)
    let operands = row.strides.indices
    let lists =
      row.strides + Array(repeating: 1, count: missing) + outer.map(\.size)
      + operands.flatMap { operand in Array(repeating: 0, count: missing) + outer.map { $0.strides[operand] } }
    self.run(
      kernel, buffers, [rowCount, row.size, rows, run].map { .int($0) } + constants + lists.map { .int($0) },
      global: [(rowCount + rows - 1) / rows, (row.size + run - 1) / run])
  }
}

/// An emitter of one kernel that walks all inputs in their dense layout.
func walking(_ plan: BroadcastPlan, _ kernel: KernelName, _ constants: [Constant]) -> Emitter {
  Emitter { lowering throws(DeviceError) in
    var buffers: [Int] = []
    for input in lowering.node.inputs { buffers.append(try lowering.place(input, .dense)) }
    buffers.append(lowering.make(lowering.node.outputs[0], .dense))
    lowering.walk(plan, kernel, buffers, constants)
  }
}
