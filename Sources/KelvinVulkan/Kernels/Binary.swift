import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addBinary() {
    add(Binary.self) { op, context throws(DeviceError) in
      let (left, right) = (context.inputs[0].shape, context.inputs[1].shape)
      let output = context.outputs[0].shape
      let walk = Walk(output, [left, right])
      try walk.check(context)
      let node = context.node
      let element = try context.element(context.inputs[0])
      if element.kind != .float {
        return Kernel { builder throws(DeviceError) in
          try builder.combine(
            "integer_binary", walk, constants: [Int(op.code), element.kind.rawValue, element.bits], node)
        }
      }
      return Kernel { builder throws(DeviceError) in
        let code = Int(op.code)
        if let blocked = BlockedOperands(left, right, output), builder.prefersBlocked(node, blocked) {
          return try blocked.build(builder, node, code)
        }
        if left == output, right == output || right.count == 1 {
          return try builder.combine(node, code, left: 0, right: right == output ? 0 : 2)
        }
        if right == output, left.count == 1 { return try builder.combine(node, code, left: 2, right: 0) }
        try walk.build(builder, node, code, count: output.count)
      }
    }
  }
}

/// Operands of which each is whole, one element, or one element for each channel of a blocked tensor.
private struct BlockedOperands {
  let shape: BlockedShape
  /// 0 whole, 1 by channel, 2 one element.
  let kinds: [Int]
  /// Planes after which the operand by channel repeats.
  let planes: [Int]

  init?(_ left: Shape, _ right: Shape, _ output: Shape) {
    shape = BlockedShape(output)
    guard output.rank >= 2, shape.channels % 4 == 0 else { return nil }
    var kinds: [Int] = []
    var planes: [Int] = []
    for operand in [left, right] {
      let padded = [Int](repeating: 1, count: output.rank - operand.rank) + operand.dimensions
      if operand == output {
        kinds.append(0)
      } else if operand.count == 1 {
        kinds.append(2)
      } else if padded[1] == shape.channels, padded.dropFirst(2).allSatisfy({ $0 == 1 }) {
        kinds.append(1)
      } else {
        return nil
      }
      planes.append(shape.blocks * (padded[0] == 1 ? 1 : shape.batch))
    }
    self.kinds = kinds
    self.planes = planes
  }

  func build(_ builder: SegmentBuilder, _ node: Node, _ code: Int) throws(DeviceError) {
    var reads: [Operand] = []
    for (kind, input) in zip(kinds, node.inputs) {
      // One element for each of [1 or N, C] is already in blocks where C divides by four.
      let layout: Layout = kind == 0 ? .blocked : .dense
      reads.append(Operand(region: try builder.read(input, layout), format: .float4))
    }
    var parameters = Parameters()
    parameters.add(shape.count, shape.area, planes[0], planes[1])
    parameters.addInverses(shape.area, planes[0], planes[1])
    builder.dispatchFlat(
      "binary", constants: [code] + kinds, parameters, count: shape.count, reads: reads,
      write: try builder.write(node.outputs[0], .blocked))
  }
}

extension Walk {
  fileprivate func build(_ builder: SegmentBuilder, _ node: Node, _ code: Int, count: Int) throws(DeviceError) {
    var parameters = Parameters()
    parameters.add(count)
    add(to: &parameters)
    for size in paddedSizes { parameters.addInverses(size) }
    let x = try builder.read(node.inputs[0], .dense)
    let y = try builder.read(node.inputs[1], .dense)
    builder.dispatchFlat(
      "binary_broadcast", constants: [code], parameters, count: count,
      reads: [Operand(region: x, format: .float), Operand(region: y, format: .float)],
      write: try builder.write(node.outputs[0], .dense))
  }
}

extension SegmentBuilder {
  /// A kernel that walks all inputs as words.
  ///
  /// - Parameter constants: specialisation constants after the number of axes.
  func combine(_ shader: String, _ walk: Walk, constants: [Int], _ node: Node) throws(DeviceError) {
    let count = type(node.outputs[0]).count
    var parameters = Parameters()
    parameters.add(count)
    walk.add(to: &parameters)
    var reads: [Operand] = []
    for input in node.inputs { reads.append(try elements(input)) }
    dispatchFlat(
      shader, constants: [walk.axisCount] + constants, parameters, count: count, reads: reads,
      write: try write(node.outputs[0], .dense))
  }

  /// Whether an operand that is as large as the result lies in blocks only.
  fileprivate func prefersBlocked(_ node: Node, _ operands: BlockedOperands) -> Bool {
    zip(operands.kinds, node.inputs).contains { $0 == 0 && !has($1, .dense) }
  }

  /// Dense operands of which one may be a single element.
  fileprivate func combine(_ node: Node, _ code: Int, left: Int, right: Int) throws(DeviceError) {
    let count = (type(node.outputs[0]).count + 3) / 4
    var parameters = Parameters()
    parameters.add(count, 1, 1, 1)
    parameters.addInverses(1, 1, 1)
    let x = try read(node.inputs[0], .dense)
    let y = try read(node.inputs[1], .dense)
    dispatchFlat(
      "binary", constants: [code, left, right], parameters, count: count,
      reads: [Operand(region: x, format: .float4), Operand(region: y, format: .float4)],
      write: try write(node.outputs[0], .dense))
  }
}
