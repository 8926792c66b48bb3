import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Operators whose number of results depends on data.
  static let counting: [ONNXMapper] = [nonZero, nonMaximumSuppression, unique]

  private static let nonZero = ONNXMapper("NonZero", hasDataDependentShape: true) { c in
    let x = try c.input(0)
    if let weight = c.emitter.weight(x) { return [c.emitter.constant(Weight(weight.dense().nonZeroPlaces))] }
    let vector = c.emitter.shape(x).rank == 0 ? try c.emitter.reshape(x, [1], step: "vector") : x
    let results = try c.emitter.addAll(NonZero(), [vector])
    return [try c.emitter.counted(results[0], axis: 1, by: results[1])]
  }

  /// Returns the distinct slices along an axis, or elements; the first position of each; the index of each slice's
  /// distinct value; and the numbers of occurrences.
  private static let unique = ONNXMapper("Unique", hasDataDependentShape: true) { c in
    var x = try c.input(0)
    let named = c.node.attributes["axis"]?.integer
    if named == nil { x = try c.emitter.reshape(x, [c.emitter.shape(x).count], step: "elements") }
    let axis = try c.emitter.axis(named ?? 0, of: x)
    let op = Unique(axis: axis, isSorted: c.integer("sorted", default: 1) != 0)
    let results = try c.emitter.addAll(op, [x], step: "different")
    var (first, counts) = (results[0], results[2])
    if let found = try c.emitter.integers(results[3])?.first {
      let whole = [SliceRange(start: 0, count: found)]
      first = try c.emitter.slice(first, whole, step: "first")
      counts = try c.emitter.slice(counts, whole, step: "counts")
      return [try c.emitter.gather(x, first, axis: axis, batch: 0), first, results[1], counts]
    }
    let values = try c.emitter.gather(x, first, axis: axis, batch: 0)
    return [
      try c.emitter.counted(values, axis: axis, by: results[3]),
      try c.emitter.counted(first, axis: 0, by: results[3]), results[1],
      try c.emitter.counted(counts, axis: 0, by: results[3]),
    ]
  }

  /// Returns the selected boxes of each image and class as rows of image, class and box. The operator treats each class
  /// of each image as a separate image. The mask of its selection is then compacted to one list.
  private static let nonMaximumSuppression = ONNXMapper(
    "NonMaxSuppression", valueDependent: [2, 3, 4], hasDataDependentShape: true
  ) { c in
    let (boxes, scores) = (try c.input(0), try c.input(1))
    let shape = c.emitter.shape(scores)
    guard shape.rank == 3, c.emitter.shape(boxes) == [shape[0], shape[2], 4] else {
      throw c.emitter.invalid(
        "expected boxes [N, B, 4] and scores [N, C, B], got \(c.emitter.type(boxes)) and \(c.emitter.type(scores))")
    }
    let (classes, candidates, images) = (shape[1], shape[2], shape[0] * shape[1])
    let most = min(max(try c.constantIntegers(2, "number of boxes")?.first ?? 0, 0), candidates)
    let overlap = try c.constantNumber(3, "overlap threshold") ?? 0
    // A score must exceed the threshold, while the operator keeps scores equal to it.
    let least = try c.constantNumber(4, "score threshold").map { Double(Float($0).nextUp) } ?? -.infinity
    guard images * most > 0 else { return [c.emitter.constant(integers: [], shape: [0, 3])] }
    let each = try c.emitter.reshape(scores, [images, candidates, 1], step: "scores")
    let (scalar, op) = (c.emitter.scalar(scores), NonMaximumSuppression(maximumBoxes: most))
    let operands = [
      try c.boxes(boxes, shape), each, c.emitter.constant(overlap, scalar, step: "overlap"),
      c.emitter.constant(least, scalar, step: "least"),
    ]
    let picked = try c.emitter.addAll(op, operands, step: "picked")[2]
    let none = c.emitter.constant(0, .int32, step: "none")
    let mask = try c.emitter.add(Compare(.greaterOrEqual), picked, none, step: "mask")
    let found = try c.emitter.addAll(NonZero(), [mask], step: "places")
    let places = try c.emitter.transpose(found[0], [1, 0], step: "pairs")
    let box = try c.emitter.cast(
      try c.emitter.add(GatherND(), picked, places, step: "box"), to: .int64, step: "box")
    let line = try c.emitter.slice(
      places, [SliceRange(start: 0, count: images * most), SliceRange(start: 0, count: 1)], step: "line")
    let size = c.emitter.constant(Double(classes), .int64, step: "classes")
    let image = try c.emitter.binary(.divide, line, size, step: "image")
    let first = try c.emitter.binary(.multiply, image, size, step: "first")
    let label = try c.emitter.binary(.subtract, line, first, step: "class")
    let column = try c.emitter.reshape(box, [images * most, 1], step: "column")
    let rows = try c.emitter.add(Concat(axis: 1), image, label, column)
    return [try c.emitter.counted(rows, axis: 0, by: found[1])]
  }
}

extension ONNXOperation {
  /// Returns the boxes of each image, repeated for each of its classes, as center and size.
  fileprivate func boxes(_ boxes: ValueID, _ scores: Shape) throws -> ValueID {
    let (images, classes, count) = (scores[0], scores[1], scores[2])
    var centred = boxes
    if integer("center_point_box", default: 0) == 0 {
      // Two opposite corners, in any order.
      let corners = try [0, 2].map { start in
        let whole = [SliceRange(start: 0, count: images), SliceRange(start: 0, count: count)]
        return try emitter.slice(boxes, whole + [SliceRange(start: start, count: 2)], step: "corner\(start / 2)")
      }
      let half = emitter.constant(0.5, emitter.scalar(boxes), step: "half")
      let sum = try emitter.binary(.add, corners[0], corners[1], step: "sum")
      let difference = try emitter.binary(.subtract, corners[1], corners[0], step: "difference")
      let size = try emitter.unary(UnaryFunction(.abs), difference, step: "size")
      centred = try emitter.add(
        Concat(axis: 2), try emitter.binary(.multiply, sum, half, step: "centre"), size, step: "centred")
    }
    let apart = try emitter.reshape(centred, [images, 1, count, 4], step: "apart")
    let each = try emitter.add(Expand([images, classes, count, 4]), apart, step: "each")
    return try emitter.reshape(each, [images * classes, count, 4], step: "boxes")
  }
}
