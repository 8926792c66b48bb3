import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let matMul = ONNXMapper("MatMul") { c in
    let (x, y) = (try c.input(0), try c.input(1))
    return [try c.emitter.matmul(x, y)]
  }
}
