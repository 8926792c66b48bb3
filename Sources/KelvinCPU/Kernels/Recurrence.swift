import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addRecurrence() {
    addOffers(Recurrence.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic(besides: op.lengthsInput)
      let products = context.rowProducts(depth: context.inputs[1].shape[1])
      let kernel = CPUKernel.recurrence(op, context, products)
      return [KernelOffer(kernel, precision: context.isConstant(1) ? products.precision : .full)]
    }
  }
}

extension CPUKernel {
  /// Returns a kernel whose steps are a product of the state and the packed weights, or two if a GRU resets before the
  /// second, followed by the gates.
  fileprivate static func recurrence(_ op: Recurrence, _ context: CPUContext, _ products: CPUProducts) -> CPUKernel {
    let (steps, rows, hidden) = (context.inputs[0].shape[0], context.inputs[0].shape[1], context.inputs[1].shape[1])
    guard rows * hidden > 0 else { return CPUKernel { _, _ in } }
    let all = context.inputs[1].shape[0]
    let resetsBefore = op.cell == .gru && !op.resetsAfterProduct
    let split = resetsBefore ? 2 * hidden : all
    let parts = resetsBefore ? [0..<split, split..<all] : [0..<all]
    let stepProducts = parts.map { StateProduct(rows: rows, $0, context, products) }
    let own = [4 * rows * split] + (resetsBefore ? [4 * rows * hidden, 4 * rows * hidden] : [])
    let ends = stepProducts.reduce(into: [own.count]) { $0.append($0[$0.count - 1] + $1.kernel.temporaries.count) }

    var arguments = ck_recurrence_args()
    arguments.cell =
      switch op.cell {
      case .lstm: ck_recurrence_lstm
      case .gru: ck_recurrence_gru
      case .simple: ck_recurrence_simple
      }
    (arguments.steps, arguments.rows, arguments.hidden) = (steps, rows, hidden)
    (arguments.reversed, arguments.coupled) = (op.isReversed, op.couplesGates)
    arguments.resets_after = op.resetsAfterProduct
    (arguments.gate_limit, arguments.cell_limit) = (op.gateLimit, op.cellLimit)
    fill(
      &arguments.functions,
      with: op.activations.map { ck_recurrence_function(map: context.variant.map($0), a: $0.a, b: $0.b) })
    let items = rows * KelvinCPU.parts(hidden, of: Int(ck_recurrence_chunk))
    let cost = Int(ck_recurrence_chunk) * op.cell.gates.count * 16

    var kernel = CPUKernel { [arguments] operands, list in
      var arguments = arguments
      arguments.x = operands.floats(0)
      arguments.y = operands.result()
      arguments.products = UnsafePointer(operands.temporary(0))
      arguments.hidden_before = operands.floats(2)
      arguments.hidden_after = operands.result(1)
      if let cell = op.cellInput {
        arguments.cell_before = operands.floats(cell)
        arguments.cell_after = operands.result(2)
      }
      arguments.peepholes = op.peepholeInput.flatMap(operands.floats)
      arguments.candidate_bias = op.candidateBiasInput.flatMap(operands.floats)
      arguments.lengths = op.lengthsInput.flatMap { operands.inputs[$0]?.assumingMemoryBound(to: Int32.self) }
      if resetsBefore {
        arguments.reset_hidden = operands.temporary(1)
        arguments.candidates = UnsafePointer(operands.temporary(2))
      }
      for step in 0..<steps {
        arguments.step = step
        stepProducts[0].record(
          arguments.hidden_before, operands.temporary(0), pack: 0, temporaries: operands.temporaries[ends[0]..<ends[1]],
          operands, list)
        if resetsBefore {
          list.add(ck_recurrence_reset_run, arguments, items: items, cost: cost)
          stepProducts[1].record(
            UnsafePointer(arguments.reset_hidden), operands.temporary(2), pack: 1,
            temporaries: operands.temporaries[ends[1]..<ends[2]], operands, list)
        }
        list.add(ck_recurrence_run, arguments, items: items, cost: cost)
        arguments.hidden_before = UnsafePointer(arguments.hidden_after)
        arguments.cell_before = UnsafePointer(arguments.cell_after)
      }
      if steps == 0 {
        for (input, output) in zip([2] + (op.cellInput.map { [$0] } ?? []), 1...) {
          list.addCopy(
            operands.inputs[input].map(UnsafeMutableRawPointer.init(mutating:)), operands.outputs[output],
            rows * hidden, element: 4)
        }
      }
    }
    kernel.packs = stepProducts.flatMap(\.kernel.packs)
    kernel.temporaries = own + stepProducts.flatMap(\.kernel.temporaries)
    kernel.threadByteCount = stepProducts.map(\.kernel.threadByteCount).max() ?? 0
    return kernel
  }
}

/// The product of a state `[rows, hidden]` and some of the rows of the recurrent weights.
private struct StateProduct {
  let kernel: CPUKernel
  private let isPacked: Bool
  /// The first element of the weights.
  private let first: Int

  init(rows: Int, _ weights: Range<Int>, _ context: CPUContext, _ products: CPUProducts) {
    let depth = context.inputs[1].shape[1]
    first = weights.lowerBound * depth
    if context.isConstant(1) {
      kernel = .rowProduct(
        rows: rows, WeightRows(of: 1, rows: weights, context), Epilogue(), context, products)
    } else {
      kernel = .matrixProduct(
        MatMul(transposesY: true), [rows, depth], [weights.count, depth], [rows, weights.count], context)
    }
    isPacked = !kernel.packs.isEmpty
  }

  /// - Parameters:
  ///   - pack: the index of the weights in the node's packs.
  ///   - temporaries: the product's temporaries.
  func record(
    _ state: UnsafePointer<Float>?, _ result: UnsafeMutablePointer<Float>, pack: Int,
    temporaries: ArraySlice<UnsafeMutableRawPointer>, _ operands: CPUOperands, _ list: CPUTaskList
  ) {
    let own = CPUOperands(
      inputs: [UnsafeRawPointer(state), operands.floats(1).map { UnsafeRawPointer($0 + first) }],
      outputs: [UnsafeMutableRawPointer(result)], packs: isPacked ? [operands.packs[pack]] : [],
      temporaries: Array(temporaries))
    kernel.record(own, list)
  }
}
