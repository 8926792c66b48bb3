package import KelvinGraph

extension Emitter {
  /// Returns the product of tensors, summed over the axes that the result does not have. Operands are combined two at a
  /// time, by a matrix product if axes are summed and by a multiplication otherwise.
  package func einsum(_ equation: String, _ operands: [ValueID]) throws -> ValueID {
    guard !operands.isEmpty, operands.count <= 64,
      let plan = EinsumEquation(equation, ranks: operands.map { shape($0).rank })
    else {
      throw invalid(
        "equation '\(equation)' does not fit \(operands.map { type($0).description }.joined(separator: ", "))")
    }
    var terms = try zip(operands, plan.operands).map { try diagonal(EinsumTerm(value: $0, labels: $1)) }
    var product = terms.removeFirst()
    while !terms.isEmpty {
      let next = terms.removeFirst()
      let needed = Set(plan.result + terms.flatMap(\.labels))
      let left = try summed(product, keeping: needed.union(next.labels))
      let right = try summed(next, keeping: needed.union(product.labels))
      product = try contracted(left, right, needed)
    }
    product = try summed(product, keeping: Set(plan.result))
    return try transpose(product.value, plan.result.map { product.labels.firstIndex(of: $0) ?? 0 })
  }

  /// Returns a term without repeated axes: the elements with equal indices along axes of the same name.
  private func diagonal(_ term: EinsumTerm) throws -> EinsumTerm {
    var term = term
    while let last = term.labels.indices.first(where: { term.labels[..<$0].contains(term.labels[$0]) }),
      let first = term.labels.firstIndex(of: term.labels[last])
    {
      let others = term.labels.indices.filter { $0 != first && $0 != last }
      let sizes = shape(term.value)
      let size = sizes[first]
      guard sizes[last] == size else {
        throw invalid("axes \(first) and \(last) of \(type(term.value)) have the same name and different sizes")
      }
      let outer = others.map { sizes[$0] }
      let square = try transpose(term.value, others + [first, last], step: "square")
      let flat = try reshape(square, Shape(outer + [size * size]), step: "flat_square")
      let line = Slice(
        starts: [Int](repeating: 0, count: outer.count + 1), counts: outer + [size],
        steps: outer.map { _ in 1 } + [size + 1])
      term = EinsumTerm(
        value: try add(line, flat, step: "diagonal"), labels: others.map { term.labels[$0] } + [term.labels[first]])
    }
    return term
  }

  private func summed(_ term: EinsumTerm, keeping labels: Set<Int>) throws -> EinsumTerm {
    let axes = term.labels.indices.filter { !labels.contains(term.labels[$0]) }
    if axes.isEmpty { return term }
    let sum = try add(Reduce(.sum, axes: axes, keepsDimensions: false), term.value, step: "summed")
    return EinsumTerm(value: sum, labels: term.labels.filter(labels.contains))
  }

  private func contracted(
    _ left: EinsumTerm, _ right: EinsumTerm, _ needed: Set<Int>
  ) throws -> EinsumTerm {
    let shared = left.labels.filter(right.labels.contains)
    let inner = shared.filter { !needed.contains($0) }
    let batch = shared.filter(needed.contains)
    let rows = left.labels.filter { !shared.contains($0) }
    let columns = right.labels.filter { !shared.contains($0) }
    guard !inner.isEmpty, scalar(left.value).isFloatingPoint else {
      let x = try arranged(left, [batch + inner, rows, []], ones: columns.count, merges: false)
      let order = batch + inner + columns
      let y = try transpose(
        right.value, order.map { right.labels.firstIndex(of: $0) ?? 0 }, step: "right")
      var sizes = shape(y).dimensions
      sizes.insert(contentsOf: rows.map { _ in 1 }, at: batch.count + inner.count)
      let product = try binary(.multiply, x, try reshape(y, Shape(sizes), step: "right_factor"), step: "product")
      return EinsumTerm(value: product, labels: batch + inner + rows + columns)
    }
    for label in inner where size(label, left) != size(label, right) {
      throw invalid("\(type(left.value)) and \(type(right.value)) differ along an axis that is summed")
    }
    let transposesX = left.labels == batch + inner + rows
    let x = try arranged(left, [batch] + (transposesX ? [inner, rows] : [rows, inner]), ones: 0, merges: true)
    let isConstant = weight(right.value) != nil && batch.isEmpty
    let transposesY = isConstant || right.labels == batch + columns + inner
    let y = try arranged(right, [batch] + (transposesY ? [columns, inner] : [inner, columns]), ones: 0, merges: true)
    let product =
      isConstant && !transposesX
      ? try add(Linear(), x, y, step: "product")
      : try add(MatMul(transposesX: transposesX, transposesY: transposesY), x, y, step: "product")
    let sizes =
      shape(product).dimensions.prefix(batch.count) + rows.map { size($0, left) } + columns.map { size($0, right) }
    let separate = try reshape(product, Shape(Array(sizes)), step: "separate")
    return EinsumTerm(value: separate, labels: batch + rows + columns)
  }

  /// Returns the term with its axes in the order of three groups. The second and the third group are merged into one
  /// axis each, or axes of size 1 follow them.
  private func arranged(
    _ term: EinsumTerm, _ groups: [[Int]], ones: Int, merges: Bool
  ) throws -> ValueID {
    let order = groups.flatMap { $0 }.map { term.labels.firstIndex(of: $0) ?? 0 }
    let moved = try transpose(term.value, order, step: "arranged")
    var sizes = groups[0].map { size($0, term) }
    for group in groups.dropFirst() {
      let group = group.map { size($0, term) }
      sizes += merges ? [group.reduce(1, *)] : group
    }
    return try reshape(moved, Shape(sizes + [Int](repeating: 1, count: ones)), step: "factor")
  }

  private func size(_ label: Int, _ term: EinsumTerm) -> Int {
    term.labels.firstIndex(of: label).map { shape(term.value)[$0] } ?? 1
  }
}

/// A tensor and the names of its axes.
private struct EinsumTerm {
  var value: ValueID
  var labels: [Int]
}
