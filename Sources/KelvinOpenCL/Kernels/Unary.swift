internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func unary(_ function: UnaryFunction, count: Int) -> KernelDispatch<KernelName> {
    let run = max(tuning.run / lanes, 1)
    return call(
      .elementwise("unary", function.code, tuning),
      Parameters(count, run, Int(function.code)).floats(function.a, function.b), items: pieces(count, of: run * lanes))
  }

  func integerUnary(_ function: UnaryFunction, of scalar: ScalarType, count: Int) -> KernelDispatch<KernelName> {
    var parameters = Parameters(count, tuning.run, Int(function.code))
    for bound in [function.a, function.b] {
      parameters.add(wide: UInt64(bitPattern: Int64(Int(saturating: Double(bound)))))
    }
    return call(
      KernelName(program: "integer", defines: scalar.wideDefines, function: "integer_unary"), parameters,
      items: pieces(count, of: tuning.run))
  }
}
