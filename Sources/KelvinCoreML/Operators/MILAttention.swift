import KelvinGraph
import KelvinImport

extension MILMapper {
  static let scaledDotProductAttention = MILMapper("scaled_dot_product_attention") { operation, scope in
    let query = try operation.value("query", scope)
    let key = try operation.value("key", scope)
    let value = try operation.value("value", scope)
    let mask = try operation.optional("attn_mask", scope)
    guard let width = scope.emitter.shape(query).dimensions.last, width > 0 else {
      throw scope.emitter.invalid("its query is \(scope.emitter.type(query))")
    }
    return try scope.emitter.attention(query, key, value, mask: mask, scale: 1 / Float(width).squareRoot())
  }

  static let einsum = MILMapper("einsum") { operation, scope in
    let operands = try operation.values("values", scope)
    let equation = try operation.required(try operation.text("equation", scope), "equation", scope)
    return try scope.emitter.einsum(equation, operands)
  }
}
