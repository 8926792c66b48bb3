import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addPad() {
    add(Pad.self) { op, context throws(DeviceError) in
      let element = try context.element(context.inputs[0])
      let (input, output) = (context.inputs[0].shape, context.outputs[0].shape)
      // Neighbouring axes without padding are one.
      var axes: [(size: Int, extent: Int, before: Int, isPadded: Bool)] = []
      for axis in 0..<input.rank {
        let isPadded = op.before[axis] + op.after[axis] > 0
        if let last = axes.last, !isPadded, !last.isPadded {
          axes[axes.count - 1].size *= input[axis]
          axes[axes.count - 1].extent *= input[axis]
        } else {
          axes.append((output[axis], input[axis], op.before[axis], isPadded))
        }
      }
      if element.isPair { axes.append((2, 2, 0, false)) }
      guard axes.count <= 4 else { throw context.unsupported("padding of more than 4 separate axes") }
      while axes.count < 4 { axes.insert((1, 1, 0, false), at: 0) }
      let (mode, value): (Int, Float) =
        switch op.mode {
        case .constant(let value): (1, value)
        case .reflect: (2, 0)
        case .edge: (3, 0)
        }
      let words = element.words(of: value, context.inputs[0].scalar)
      let count = context.outputs[0].words
      let node = context.node
      var parameters = Parameters()
      parameters.add(count, 0, 0)
      parameters.add(axes.map(\.size).reversed() + [1, 1])
      parameters.add(Shape(axes.map(\.extent)).strides.reversed() + [0, 0])
      parameters.add(Shape(axes.map(\.size)).strides.reversed() + [0, 0])
      parameters.add(axes.map(\.before).reversed())
      parameters.add(axes.map(\.extent).reversed())
      parameters.add(words: words.even, words.odd)
      let finished = parameters
      return Kernel { builder throws(DeviceError) in
        let x = try builder.read(node.inputs[0], .dense)
        builder.dispatchFlat(
          "copy", constants: [mode], finished, count: count, reads: [Operand(region: x, format: .uint)],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}
