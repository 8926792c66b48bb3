internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addBinary() {
    add(Binary.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      guard op.code < 7 else { throw context.unsupported("function \(op.function.rawValue)") }
      let dense = BroadcastPlan(context.outputs[0].shape, context.inputs[0].shape, context.inputs[1].shape)
      guard dense.axes.count <= BroadcastPlan.maximumRank else {
        throw context.unsupported("broadcasting over more than \(BroadcastPlan.maximumRank) axes")
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

/// How two operands and their broadcast result are walked together.
struct BroadcastPlan {
  struct Axis {
    var size: Int
    var x: Int
    var y: Int
  }
  /// Outermost first, the row last; neighbours that both operands walk alike are one axis.
  private(set) var axes: [Axis] = []

  /// How many axes the kernel takes, the row included.
  static let maximumRank = 6

  init(_ result: Shape, _ x: Shape, _ y: Shape) {
    let (xStrides, yStrides) = (Self.strides(x, in: result), Self.strides(y, in: result))
    for index in 0..<result.rank where result[index] != 1 {
      let axis = Axis(size: result[index], x: xStrides[index], y: yStrides[index])
      if let last = axes.last, last.x == axis.x * axis.size, last.y == axis.y * axis.size {
        axes[axes.count - 1] = Axis(size: last.size * axis.size, x: axis.x, y: axis.y)
      } else {
        axes.append(axis)
      }
    }
    if axes.isEmpty { axes = [Axis(size: 1, x: 1, y: 1)] }
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
    let outer = plan.axes.dropLast()
    let row = plan.axes[plan.axes.count - 1]
    let rowCount = outer.reduce(1) { $0 * $1.size }
    let missing = BroadcastPlan.maximumRank - 1 - outer.count
    func list(_ value: (BroadcastPlan.Axis) -> Int, filler: Int) -> [Constant] {
      (Array(repeating: filler, count: missing) + outer.map(value)).map { .int($0) }
    }
    let rows = max(tuning.run / max(row.size, 1), 1)
    let run = max(tuning.run, tuning.lanes)
    let constants: [Constant] =
      [
        .int(rowCount), .int(row.size), .int(rows), .int(run), .int(Int(op.code)), .int(row.x), .int(row.y),
      ] + list(\.size, filler: 1) + list(\.x, filler: 0) + list(\.y, filler: 0)
    self.run(
      KernelName(program: "binary", function: "binary"), [x, y, z], constants,
      global: [(rowCount + rows - 1) / rows, (row.size + run - 1) / run])
  }
}
