import CKelvinKernels

/// The packing of the rows of a product, a node's second input: for each group, `rows` rows of `depth` elements.
struct RowPacking {
  private var arguments = ck_pack_rows_args()
  private let panels: Int
  private let run: ck_run?
  private let groups: Int

  /// - Parameter isTransposed: whether the rows of a group are the columns of its matrix.
  init(rows: Int, depth: Int, groups: Int, isTransposed: Bool = false, _ products: CPUProducts) {
    arguments.rows = rows
    arguments.depth = depth
    arguments.row_stride = isTransposed ? 1 : depth
    arguments.depth_stride = isTransposed ? rows : 1
    arguments.x_step = rows * depth
    arguments.y_step = ck_packed_rows_count(rows, depth, products.type)
    panels = groups * parts(rows, of: Int(ck_gemm_rows))
    run = products.kernels.pack_rows
    self.groups = groups
  }

  /// The words of a packed group.
  var count: Int { arguments.y_step }
  var byteCount: Int { 4 * count * groups }

  /// Returns the packed layout of constant rows.
  func pack(_ layout: String) -> CPUPack {
    CPUPack(inputs: [1], layout: layout, byteCount: byteCount) { target, weights in
      var arguments = arguments
      arguments.x = weights[0].baseAddress
      arguments.y = target.bindMemory(to: Float.self).baseAddress
      run?(&arguments, 0, panels, nil)
    }
  }

  /// Adds a task that packs rows into the first temporary, and returns its address.
  func record(_ operands: CPUOperands, _ list: CPUTaskList) -> UnsafePointer<Float> {
    var arguments = arguments
    arguments.x = operands.floats(1)
    arguments.y = operands.temporary(0)
    list.add(run, arguments, items: panels, cost: arguments.depth * Int(ck_gemm_rows))
    return UnsafePointer(operands.temporary(0))
  }
}
