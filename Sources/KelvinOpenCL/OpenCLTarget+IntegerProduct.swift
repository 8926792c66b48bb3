internal import KelvinGPU

extension OpenCLTarget {
  /// Returns whole vectors of columns, unless a group has few columns, which are computed row by row.
  func storedColumns(_ columns: Int) -> Int { columns < lanes / 2 ? columns : pieces(columns, of: lanes) * lanes }

  func integerProduct(_ plan: IntegerProductPlan) -> KernelDispatch<KernelName> {
    let window = plan.window
    let usesLines = !plan.areRows && plan.storedColumns < lanes
    let row = max(min(64, tuning.columns, window.output[2]), 1)
    let parts = pieces(window.output[2], of: row)
    let defines =
      [
        "X=\(plan.x.kernelName)", "WEIGHT=\(plan.weights.kernelName)", "RESULT=\(plan.result.kernelName)",
        "PIXELS=\(tuning.integerPixels)", "ROW=\(min(64, tuning.columns))",
      ] + (usesPackedDotProducts && !usesLines && plan.channels > 2 ? [DotProduct.define] : [])
    let kernel = KernelName(
      program: "integer_product", defines: defines,
      function: usesLines ? "integer_product_lines" : "integer_product")
    let imageBytes = plan.groups * window.taps * plan.channels * plan.storedColumns
    let parameters = Parameters(
      [
        plan.positions, plan.groups, plan.channels, plan.columns, plan.storedColumns,
        plan.hasOwnWeights ? imageBytes : 0, plan.areRows ? 1 : 0, plan.requantization == nil ? 0 : 1,
      ] + window.output + window.input + window.geometry + [parts])
    guard usesLines else {
      return call(
        kernel, parameters, items: pieces(plan.positions, of: tuning.integerPixels),
        pieces(plan.columns, of: 2 * lanes), plan.images * plan.groups)
    }
    return call(
      kernel, parameters, items: window.output[0] * window.output[1] * parts, plan.groups * plan.columns, plan.images)
  }
}
