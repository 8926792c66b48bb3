import KelvinGraph

/// An output of a model with its shape, as far as it is known.
struct HeadOutput: Hashable {
  var name: String
  /// The sizes of the axes; negative where they depend on data.
  var shape: [Int]
  var isFloat = true

  var text: String { "'\(name)' (\(shape.map { $0 < 0 ? "?" : "\($0)" }.joined(separator: "x")))" }
}

extension DetectionHead {
  /// Returns the positions of boxes and their scores in the head's arrays.
  ///
  /// - Parameters:
  ///   - outputs: The outputs that `chosen(from:)` returned, with their actual shapes.
  ///   - input: The size of the model's input.
  /// - Throws: `VisionError.invalidModel` with the expected and the found shape, also for invalid numbers in the head.
  func parts(_ outputs: [HeadOutput], _ input: (width: Int, height: Int)) throws(VisionError) -> [HeadPart] {
    guard maximumCount >= 0, strides.allSatisfy({ $0 > 0 }) else {
      throw .invalidModel(
        "the head's 'strides' are \(strides) and its 'maximum' is \(maximumCount): expected strides from 1, a maximum from 0"
      )
    }
    return switch family {
    case .boxes, .detr: [try separate(outputs, input)]
    case .yolov3, .yolov5:
      outputs.count == 1 && Self.table(outputs[0].shape) != nil
        ? [try table(outputs[0], input, grids: false)] : try maps(outputs, input)
    case .yolov8, .yolov10: [try table(outputs[0], input, grids: false)]
    case .yolox: try grids(try table(outputs[0], input, grids: true), outputs[0], input)
    }
  }

  /// The number of values in a box before its class scores.
  private var leading: Int { hasObjectness ? 5 : 4 }

  /// Returns the last two axes of an array of boxes; nil for another shape.
  private static func table(_ shape: [Int]) -> (first: Int, last: Int)? {
    let inner = shape.drop { $0 == 1 }
    // Leading axes of size 1 are ignored. They may be all axes, for one box and one class.
    guard shape.count >= 2, inner.count <= 2 else { return nil }
    return (shape[shape.count - 2], shape[shape.count - 1])
  }

  private func plain(_ input: (width: Int, height: Int)) -> BoxRule {
    .plain(
      boxForm, scaleX: unit == .shares ? Double(input.width) : 1, scaleY: unit == .shares ? Double(input.height) : 1)
  }

  private func table(
    _ output: HeadOutput, _ input: (width: Int, height: Int), grids: Bool
  ) throws(VisionError) -> HeadPart {
    guard let (first, last) = Self.table(output.shape) else {
      throw .invalidModel(
        "output \(output.text): family '\(family.rawValue)' expects one array of boxes, such as 1x84x8400 or 1x8400x84")
    }
    let usual = family == .yolov8 ? Layout.channelsFirst : .channelsLast
    let wanted = labels.map { leading + $0.count }
    func fits(_ layout: Layout) -> Bool {
      let numbers = layout == .channelsFirst ? first : last
      if family == .yolov10 { return numbers >= 6 }
      return wanted.map { numbers == $0 } ?? (numbers > leading)
    }
    // The number of labels tells an array from its transpose where nothing else does.
    let chosen =
      layout ?? [usual, usual == .channelsFirst ? .channelsLast : .channelsFirst].first(where: fits) ?? usual
    let (numbers, count) = chosen == .channelsFirst ? (first, last) : (last, first)
    guard numbers > leading, fits(chosen) || labels == nil else {
      let names = labels.map { " and \($0.count) labels" } ?? ""
      let expected = family == .yolov10 ? "6 numbers" : wanted.map { "\($0) numbers" } ?? "more than \(leading) numbers"
      throw .invalidModel(
        "output \(output.text): family '\(family.rawValue)', layout '\(chosen.rawValue)'\(names) expect \(expected) "
          + "for a box, got \(numbers); see the head's 'layout', 'objectness' and 'labels'")
    }
    let rows = HeadRows(
      count: count, columns: numbers, rowStride: chosen == .channelsFirst ? 1 : numbers,
      columnStride: chosen == .channelsFirst ? count : 1)
    guard family != .yolov10 else {
      return HeadPart(
        boxes: rows.part(0..<4), rule: plain(input), scores: rows.part(4..<5), classes: rows.part(5..<6))
    }
    return HeadPart(
      boxes: rows.part(0..<4), rule: plain(input), scores: rows.part(leading..<numbers),
      objectness: hasObjectness ? rows.part(4..<5) : nil)
  }

  private func grids(
    _ table: HeadPart, _ output: HeadOutput, _ input: (width: Int, height: Int)
  ) throws(VisionError) -> [HeadPart] {
    let grids = strides.map { (stride: $0, width: input.width / $0, height: input.height / $0) }
    let cells = grids.reduce(0) { $0 + $1.width * $1.height }
    guard cells == table.boxes.count else {
      throw .invalidModel(
        "output \(output.text): strides \(strides) of an input of \(input.width)x\(input.height) make \(cells) boxes, "
          + "got \(table.boxes.count); see the head's 'strides' and 'layout'")
    }
    var start = 0
    return grids.map { grid in
      func part(_ rows: HeadRows) -> HeadRows {
        var part = rows
        part.offset += start * rows.rowStride
        part.count = grid.width * grid.height
        return part
      }
      let result = HeadPart(
        boxes: part(table.boxes), rule: .grid(stride: Double(grid.stride), width: max(grid.width, 1)),
        scores: part(table.scores), objectness: table.objectness.map(part))
      start += grid.width * grid.height
      return result
    }
  }

  private func maps(
    _ outputs: [HeadOutput], _ input: (width: Int, height: Int)
  ) throws(VisionError) -> [HeadPart] {
    guard outputs.count == strides.count else {
      throw .invalidModel(
        "the head has \(strides.count) strides, and there are \(outputs.count) maps: "
          + outputs.map(\.text).joined(separator: ", "))
    }
    guard anchors.count == strides.count, !anchors.contains(where: \.isEmpty) else {
      throw .invalidModel(
        "the head has \(strides.count) strides and \(anchors.map(\.count)) anchors: expected some for each stride")
    }
    var parts: [HeadPart] = []
    for (index, output) in outputs.enumerated() { parts += try map(output, index, input) }
    return parts
  }

  /// Returns the boxes of one map, one part for each anchor.
  private func map(
    _ output: HeadOutput, _ index: Int, _ input: (width: Int, height: Int)
  ) throws(VisionError) -> [HeadPart] {
    let (stride, anchors) = (strides[index], anchors[index])
    let (wide, high) = ((input.width + stride - 1) / stride, (input.height + stride - 1) / stride)
    func refuse(_ reason: String) -> VisionError {
      .invalidModel(
        "output \(output.text): \(reason); expected a map of \(high) rows and \(wide) columns (an input of "
          + "\(input.width)x\(input.height), stride \(stride)) with \(anchors.count) anchors of "
          + (labels.map { "\(leading + $0.count)" } ?? "more than \(leading)") + " numbers")
    }
    var shape = output.shape
    if shape.count > 3, shape[0] == 1 { shape.removeFirst() }
    // The number of values in a box, and the strides between anchors, cells and values.
    let (numbers, anchorStep, cellStep, numberStep): (Int, Int, Int, Int)
    let cells = wide * high
    switch (shape.count, layout) {
    case (4, .channelsFirst):
      guard shape[0] == anchors.count, shape[2] == high, shape[3] == wide else { throw refuse("not of this form") }
      (numbers, anchorStep, cellStep, numberStep) = (shape[1], shape[1] * cells, 1, cells)
    case (4, _):
      guard shape[0] == anchors.count, shape[1] == high, shape[2] == wide else { throw refuse("not of this form") }
      (numbers, anchorStep, cellStep, numberStep) = (shape[3], cells * shape[3], shape[3], 1)
    case (3, .channelsLast):
      guard shape[0] == high, shape[1] == wide else { throw refuse("not of this form") }
      (numbers, anchorStep, cellStep, numberStep) = (shape[2] / anchors.count, shape[2] / anchors.count, shape[2], 1)
    case (3, _):
      guard shape[1] == high, shape[2] == wide else { throw refuse("not of this form") }
      (numbers, anchorStep, cellStep, numberStep) =
        (shape[0] / anchors.count, shape[0] / anchors.count * cells, 1, cells)
    default: throw refuse("\(shape.count) axes")
    }
    guard numbers > leading, labels.map({ numbers == leading + $0.count }) ?? true,
      numbers * anchors.count * cells == shape.reduce(1, *)
    else { throw refuse("\(numbers) numbers for a box") }
    return anchors.enumerated().map { place, anchor in
      let rows = HeadRows(
        array: index, offset: place * anchorStep, count: cells, columns: numbers, rowStride: cellStep,
        columnStride: numberStep)
      return HeadPart(
        boxes: rows.part(0..<4),
        rule: family == .yolov3
          ? .anchor(anchor, stride: Double(stride), width: wide)
          : .boundedAnchor(anchor, stride: Double(stride), width: wide),
        scores: rows.part(leading..<numbers), objectness: hasObjectness ? rows.part(4..<5) : nil)
    }
  }

  /// Returns the part for boxes, scores and optional classes in separate outputs.
  private func separate(
    _ outputs: [HeadOutput], _ input: (width: Int, height: Int)
  ) throws(VisionError) -> HeadPart {
    let boxes = outputs[0]
    guard let (count, four) = Self.table(boxes.shape), four == 4 else {
      throw .invalidModel("output \(boxes.text) holds no boxes: expected rows of 4 numbers")
    }
    let (scores, classes) = (outputs[1], outputs.count > 2 ? outputs[2] : nil)
    func column(_ output: HeadOutput, _ array: Int) throws(VisionError) -> HeadRows {
      guard output.shape.reduce(1, *) == count else {
        throw .invalidModel("output \(output.text): expected one number for each of \(count) boxes of \(boxes.text)")
      }
      return HeadRows(array: array, count: count, columns: 1, rowStride: 1, columnStride: 1)
    }
    let form = plain(input)
    let places = HeadRows(count: count, columns: 4, rowStride: 4, columnStride: 1)
    if let classes {
      return HeadPart(boxes: places, rule: form, scores: try column(scores, 1), classes: try column(classes, 2))
    }
    if scores.shape.count == 1 || scores.shape.reduce(1, *) == count {
      return HeadPart(boxes: places, rule: form, scores: try column(scores, 1))
    }
    let axes = Self.table(scores.shape) ?? (0, 0)
    guard axes.first == count || axes.last == count else {
      throw .invalidModel(
        "output \(scores.text): expected the scores of \(count) boxes of \(boxes.text), one for each class")
    }
    let isFirst = axes.first == count
    let numbers = isFirst ? axes.last : axes.first
    return HeadPart(
      boxes: places, rule: form,
      scores: HeadRows(
        array: 1, count: count, columns: numbers, rowStride: isFirst ? numbers : 1, columnStride: isFirst ? 1 : count))
  }
}
