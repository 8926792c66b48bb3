/// Adds overlapping blocks to images: the sums of all elements that windows would take from each position.
package struct OverlapAdd: DecomposableOperator {
  package static let name = "overlap_add"
  package var image: [Int]
  package var block: [Int]
  package var strides: [Int]
  package var dilations: [Int]
  package var before: [Int]
  package var after: [Int]

  package init(image: [Int], block: [Int], strides: [Int], dilations: [Int], before: [Int], after: [Int]) {
    self.image = image
    self.block = block
    self.strides = strides
    self.dilations = dilations
    self.before = before
    self.after = after
  }

  /// The sizes of an image with its padding, to which blocks are added.
  private var padded: [Int] { image.indices.map { image[$0] + before[$0] + after[$0] } }

  /// The number of blocks along each axis.
  package var counts: [Int] {
    image.indices.map { axis in
      let last = padded[axis] - dilations[axis] * (block[axis] - 1) - 1
      return last < 0 ? 0 : last / strides[axis] + 1
    }
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let x = inputs[0]
    let all = [image, block, strides, dilations, before, after]
    guard (1...3).contains(image.count), all.allSatisfy({ $0.count == image.count }),
      all.joined().allSatisfy({ (0..<(1 << 31)).contains($0) }), (block + strides + dilations).allSatisfy({ $0 > 0 })
    else {
      throw OperatorError("blocks \(block), strides \(strides), pads \(before) and \(after) do not fit images \(image)")
    }
    guard x.scalar != .bool, !counts.contains(0), Shape(block + counts).isAddressable, Shape(padded).isAddressable,
      x.shape.rank == 3,
      x.shape[1] % Shape(block).count == 0, x.shape[2] == Shape(counts).count
    else { throw OperatorError("expected \(counts) blocks of \(block) numbers, got \(x)") }
    let shape = Shape([x.shape[0], x.shape[1] / Shape(block).count] + image)
    guard shape.isAddressable else { throw OperatorError("images \(shape) are too large") }
    return [TensorType(x.scalar, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(inputs[0].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(precision, inputs[0].scalar, length: Shape(block).count)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] { [SplitAxis(0, self, [0])] }

  package static let summary = OperatorSummary(
    formula: "y[p] = Σ x[e, b], where e is an element of block b at position p: p = b · stride + e · dilation - before",
    notes: """
      The second axis of x has the channels, and for each the elements of a block in row-major order. The last axis \
      has the blocks of an image. Sums outside the image are dropped.
      """,
    inputs: [("x", "numbers, `[N, channels · block, blocks]`")],
    outputs: [("y", "`[N, channels, image…]`, x's element type")])

  package static let schema = AttributeSchema(
    OverlapAdd(image: [], block: [], strides: [], dilations: [], before: [], after: []),
    .required("image", \.image, "sizes of an image, one to three"),
    .required("block", \.block, "sizes of a block"),
    .optional("strides", \.strides, "distances of blocks", "1 for each axis", default: { $0.image.map { _ in 1 } }),
    .optional(
      "dilations", \.dilations, "distances of a block's elements", "1 for each axis",
      default: { $0.image.map { _ in 1 } }),
    .optional(
      "before", \.before, "padding before each axis", "0 for each axis", default: { $0.image.map { _ in 0 } }),
    .optional("after", \.after, "padding after each axis", "0 for each axis", default: { $0.image.map { _ in 0 } }))
}

extension OverlapAdd {
  /// Adds the blocks along one axis after the other.
  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    var body = Graph(bodyOf: types)
    let (images, channels) = (types[0].shape[0], types[0].shape[1] / Shape(block).count)
    // [planes, elements of the block along each axis, blocks along each axis]
    var sums = try body.append(Reshape(Shape([images * channels] + block + counts)), body.inputs, "blocks")
    for axis in image.indices { sums = try add(sums, along: axis, to: &body) }
    let sizes = body[sums].type.shape.dimensions.dropFirst()
    let whole = try body.append(Reshape(Shape([images, channels] + sizes)), [sums], "padded_image")
    let starts = [0, 0] + image.indices.map { image[$0] == 0 ? 0 : before[$0] }
    let crop = Slice(starts: starts, counts: [images, channels] + image, steps: starts.map { _ in 1 })
    body.outputs = [try body.append(crop, [whole], "image")]
    return body
  }

  /// The elements along the axis are axis 1, and the blocks are as many axes further as the image has.
  private func add(_ sums: ValueID, along axis: Int, to body: inout Graph) throws(GraphError) -> ValueID {
    let place = image.count
    let length = padded[axis] + strides[axis] - 1
    var total: ValueID?
    for element in 0..<block[axis] {
      let name = "axis_\(axis)/element_\(element)"
      let apart = try elements(element, of: sums, along: axis, name, &body)
      let sizes = body[apart].type.shape
      var (front, back) = (sizes.dimensions.map { _ in 0 }, sizes.dimensions.map { _ in 0 })
      front[place] = element * dilations[axis]
      back[place] = length - front[place] - sizes[place]
      let placed = try body.append(Pad(before: front, after: back, mode: .constant(0)), [apart], "\(name)/placed")
      if let sum = total {
        total = try body.append(Binary(.add), [sum, placed], "\(name)/sum")
      } else {
        total = placed
      }
    }
    return total ?? sums
  }

  /// Returns one element of each block along an axis, with the distances of the blocks.
  private func elements(
    _ element: Int, of sums: ValueID, along axis: Int, _ name: String, _ body: inout Graph
  ) throws(GraphError) -> ValueID {
    let (place, step) = (image.count, strides[axis])
    var counts = body[sums].type.shape.dimensions
    counts[1] = 1
    var starts = counts.map { _ in 0 }
    starts[1] = element
    let given = try body.append(
      Slice(starts: starts, counts: counts, steps: counts.map { _ in 1 }), [sums], "\(name)/given")
    counts.remove(at: 1)
    let single = try body.append(Reshape(Shape(counts)), [given], name)
    guard step > 1 else { return single }
    let column = try body.append(
      Reshape(Shape(counts[...place] + [1] + counts[(place + 1)...])), [single], "\(name)/column")
    var after = counts.map { _ in 0 } + [0]
    after[place + 1] = step - 1
    let apart = try body.append(
      Pad(before: after.map { _ in 0 }, after: after, mode: .constant(0)), [column], "\(name)/apart")
    counts[place] *= step
    return try body.append(Reshape(Shape(counts)), [apart], "\(name)/spread")
  }
}
