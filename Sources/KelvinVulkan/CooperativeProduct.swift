import KelvinDevices
import KelvinGPU
import KelvinGraph

/// Rows multiplied by constant weights with cooperative matrices. Elements are stored as float16.
struct CooperativeProduct: Sendable {
  /// The key of offers with this implementation.
  static let implementation = "cooperative"

  private let matrix: CooperativeMatrix
  private let product: RowProduct
  /// Matrices of the result that a subgroup computes, down and across.
  private let rows, columns: Int

  /// Returns nil if the device has no matrices that fit: depth must be a whole number of matrices, and rows must be
  /// aligned for loads.
  init?(_ product: RowProduct, _ context: KernelContext<VulkanTarget>) {
    guard let matrix = context.target.traits.cooperativeMatrix,
      (context.inputs + context.outputs).allSatisfy({ $0.scalar == .float16 }), product.depth % matrix.depth == 0,
      product.depth > 0, product.columns % 8 == 0, product.rows >= matrix.rows, product.columns >= matrix.columns
    else { return nil }
    self.matrix = matrix
    self.product = product
    rows = product.rows >= 2 * matrix.rows ? 2 : 1
    columns = product.columns >= 2 * matrix.columns ? 2 : 1
  }

  /// Adds the kernel. Weights `[columns, depth]` are the node's second input.
  func lower(_ lowering: VulkanLowering, _ epilogue: Epilogue) throws(DeviceError) {
    let (target, node) = (lowering.target, lowering.node)
    let x = try lowering.read(node.inputs[0], .dense)
    let weights = try lowering.read(node.inputs[1], .dense)
    let bias = try epilogue.hasBias ? repeatedBias(lowering) : weights
    let residual = try lowering.residual(epilogue, .dense) ?? x
    let rowTiles = (product.rows + rows * matrix.rows - 1) / (rows * matrix.rows)
    let columnTiles = (product.columns + columns * matrix.columns - 1) / (columns * matrix.columns)
    let (groups, z) = target.folded(rowTiles * columnTiles)
    let call = target.call(
      "cooperative", [.half, .half, .half, .half], isHalf: true, group: target.traits.lanes,
      specializationConstants: [
        matrix.rows, matrix.columns, matrix.depth, rows, columns, epilogue.hasBias ? 1 : 0,
        epilogue.addsResidual ? 1 : 0, epilogue.activationCode,
      ],
      Parameters(product.rows, product.depth, product.columns, columnTiles, rowTiles * columnTiles).activation(
        epilogue),
      groups: [groups, 1, z])
    lowering.run(call, [x, weights, bias, residual], lowering.write(node.outputs[0], .dense))
  }

  /// Returns the node's bias, repeated for each row of a matrix.
  private func repeatedBias(_ lowering: VulkanLowering) throws(DeviceError) -> Storage {
    let bias = try lowering.constantWeight(2)
    return lowering.weight(
      "\(bias.name)/vulkan-rows-\(matrix.rows)", count: matrix.rows * product.columns, of: .float16
    ) { target in
      let numbers = bias.weight.floats()
      for index in 0..<matrix.rows * product.columns { target[index] = numbers[index % product.columns] }
    }
  }
}
