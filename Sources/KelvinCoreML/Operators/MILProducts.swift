import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Matrix products and attention.
  static let products: [MILMapper] = [linear, matmul, einsum, scaledDotProductAttention]

  private static let linear = MILMapper("linear") { c in
    let x = try c.x
    // From iOS 17 on the weights may have another type than x. The result has the type of x.
    let weights = try c.emitter.cast(try c.value("weight"), to: c.emitter.scalar(x), step: "weight")
    let bias = try c.optional("bias").map {
      try c.emitter.cast($0, to: c.emitter.scalar(x), step: "bias")
    }
    guard c.emitter.scalar(x).isFloatingPoint else {
      let product = try c.emitter.matmul(x, weights, transposesY: true, step: bias == nil ? nil : "product")
      return try bias.map { try c.emitter.binary(.add, product, $0) } ?? product
    }
    return try c.emitter.add(
      Linear(epilogue: Epilogue(hasBias: bias != nil)), [x, weights] + (bias.map { [$0] } ?? []))
  }

  private static let matmul = MILMapper("matmul") { c in
    var (x, y) = (try c.x, try c.value("y"))
    // From iOS 17 on a constant may be of another type; the result has the type of the other operand.
    let isOnLeft = c.emitter.weight(x) != nil && c.emitter.weight(y) == nil
    let scalar = c.emitter.scalar(isOnLeft ? y : x)
    x = try c.emitter.cast(x, to: scalar, step: "x_as_y")
    y = try c.emitter.cast(y, to: scalar, step: "y_as_x")
    let transposesX = try c.flag("transpose_x")
    let transposesY = try c.flag("transpose_y")
    return try c.emitter.matmul(x, y, transposesX: transposesX, transposesY: transposesY)
  }

  private static let scaledDotProductAttention = MILMapper("scaled_dot_product_attention") { c in
    let (query, key, value) = (try c.value("query"), try c.value("key"), try c.value("value"))
    let mask = try c.optional("attn_mask")
    guard let width = c.emitter.shape(query).dimensions.last, width > 0 else {
      throw c.emitter.invalid("its query is \(c.emitter.type(query))")
    }
    return try c.emitter.attention(query, key, value, mask: mask, scale: 1 / Float(width).squareRoot())
  }

  private static let einsum = MILMapper("einsum") { c in
    let operands = try c.values("values")
    let equation = try c.required("equation", c.text)
    return try c.emitter.einsum(equation, operands)
  }
}
