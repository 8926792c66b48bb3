import Kelvin
import KelvinGraph
import KelvinHostOperations

/// The output of a model that determines the class of each part of an image.
struct SegmentationOutput {
  enum Form {
    /// A class for each cell.
    case labels
    /// A score for each class and cell, `[C, H, W]`. The largest score decides.
    case scores(channels: Int)
    /// A score for each class and cell, `[H, W, C]`.
    case channelsLast(channels: Int)
    /// One number for each cell. The cell belongs to class 1 where the number is above `threshold`, else to class 0.
    case mask(threshold: Float)
  }

  let name: String
  let form: Form
  /// Whether the axis after the width holds the classes, or has one element.
  private let hasLastAxis: Bool

  /// The number of the model's classes; nil for a model that outputs classes rather than scores.
  var classCount: Int? {
    switch form {
    case .labels: nil
    case .mask: 2
    case .scores(let channels), .channelsLast(let channels): channels
    }
  }

  /// The largest class that a label map can hold; see `ClassPalette.unseenIndex`.
  private static let largestClass = 254

  /// Finds the output.
  ///
  /// - Parameters:
  ///   - name: The name of the output; nil where it can be inferred.
  ///   - input: The size of the model's image input. A map must have the same proportions.
  /// - Throws: `VisionError` that lists the model's outputs.
  init(
    of function: Function, _ part: GraphPart, _ graph: Graph, named name: String?, input: (width: Int, height: Int)
  ) throws(VisionError) {
    if function.classification != nil {
      throw .invalidModel("the model classifies whole images")
    }
    if function.detection != nil {
      throw .invalidModel("the model finds objects in boxes, which is not a segmentation")
    }
    func value(_ feature: Feature) -> ValueID? {
      part.outputs.firstIndex(of: feature.name).map { graph.outputs[$0] }
    }
    let candidates = function.outputs.compactMap { feature in
      value(feature).flatMap { SegmentationOutput(feature, graph, $0, input: input) }
    }
    let all = function.outputs.map { feature in
      let shape = value(feature).map { "\(graph[$0].type)" } ?? feature.type.text
      return "'\(feature.name)' (\(shape))"
    }.joined(separator: ", ")
    if let name {
      guard let named = candidates.first(where: { $0.name == name }) else {
        let isThere = function.outputs.contains { $0.name == name }
        throw .invalidModel(
          (isThere ? "output '\(name)' does not hold classes of pixels" : "the model has no output '\(name)'")
            + "; the model's outputs are \(all)")
      }
      self = named
      return
    }
    guard !candidates.isEmpty else {
      throw .invalidModel(
        "the model has no output with a class, or a score for each class, at each place of the image "
          + "(\(input.width)x\(input.height)); its outputs are \(all)")
    }
    guard let chosen = Self.likeliest(candidates) else {
      let names = candidates.map { "'\($0.name)'" }.joined(separator: ", ")
      throw .invalidModel("several outputs may be the segmentation; name one of \(names)")
    }
    self = chosen
  }

  /// Returns the only candidate, the only one that holds classes, or the one whose name matches a known pattern.
  private static func likeliest(_ candidates: [SegmentationOutput]) -> SegmentationOutput? {
    if candidates.count == 1 { return candidates.first }
    let decided = candidates.filter { if case .labels = $0.form { true } else { false } }
    if decided.count == 1 { return decided.first }
    let pool = decided.isEmpty ? candidates : decided
    for sign in ["semantic", "segment", "mask", "label", "class", "logits", "out"] {
      let named = pool.filter { $0.name.lowercased().contains(sign) }
      if named.count == 1 { return named.first }
    }
    return nil
  }

  private init?(_ feature: Feature, _ graph: Graph, _ id: ValueID, input: (width: Int, height: Int)) {
    guard case .tensor(let scalar, _) = feature.type else { return nil }
    var sizes = graph[id].type.shape.dimensions
    while sizes.count > 3, sizes[0] == 1 { sizes.removeFirst() }
    if sizes.count == 3, sizes[0] == 1 { sizes.removeFirst() }
    let isColumn = sizes.count == 3 && sizes[2] == 1 && !scalar.isFloatingPoint
    if isColumn { sizes.removeLast() }
    func hasProportions(_ height: Int, _ width: Int) -> Bool {
      height > 1 && width > 1 && abs(height * input.width - width * input.height) <= max(input.width, input.height)
    }
    name = feature.name
    switch sizes.count {
    case 2 where hasProportions(sizes[0], sizes[1]):
      hasLastAxis = isColumn
      form =
        scalar.isFloatingPoint ? .mask(threshold: graph.isNormalized(id) ? 0.5 : 0) : .labels
    case 3 where scalar.isFloatingPoint && hasProportions(sizes[1], sizes[2]):
      hasLastAxis = false
      form = .scores(channels: sizes[0])
    case 3 where scalar.isFloatingPoint && hasProportions(sizes[0], sizes[1]):
      hasLastAxis = true
      form = sizes[2] == 1 ? .mask(threshold: graph.isNormalized(id) ? 0.5 : 0) : .channelsLast(channels: sizes[2])
    default: return nil
    }
  }

  /// Returns the number of columns and rows of a map, which differ between images of different sizes.
  ///
  /// - Parameter shape: The shape of the output.
  func size(of shape: [Int]) -> (width: Int, height: Int) {
    let axis = shape.count - (hasLastAxis ? 2 : 1)
    return (shape[axis], shape[axis - 1])
  }

  /// Returns the class of each cell, row by row.
  ///
  /// - Parameter cells: The number of cells of the map.
  /// - Throws: `VisionError` for a class that a label map cannot hold.
  package func classes(_ tensor: Tensor, cells: Int) throws(VisionError) -> [UInt8] {
    switch form {
    case .labels:
      let values = tensor.doubles
      if let outside = values.first(where: { !(0...Double(Self.largestClass)).contains($0.rounded()) }) {
        throw tooMany("class \(outside)")
      }
      return values.map { UInt8($0.rounded()) }
    case .mask(let threshold): return tensor.floats.map { $0 > threshold ? 1 : 0 }
    case .scores(let channels): return try largest(tensor.floats, channels, cells, cell: 1, channel: cells)
    case .channelsLast(let channels): return try largest(tensor.floats, channels, cells, cell: channels, channel: 1)
    }
  }

  /// Returns the class with the largest score of each cell. Of equal scores the first wins, as in NumPy's argmax.
  private func largest(
    _ scores: [Float], _ channels: Int, _ cells: Int, cell: Int, channel: Int
  ) throws(VisionError) -> [UInt8] {
    guard channels <= Self.largestClass + 1 else { throw tooMany("\(channels) classes") }
    return scores.withUnsafeBufferPointer { scores in
      var best = (0..<cells).map { scores[$0 * cell] }
      var classes = [UInt8](repeating: 0, count: cells)
      for label in 1..<max(channels, 1) {
        for index in 0..<cells where scores[index * cell + label * channel] > best[index] {
          best[index] = scores[index * cell + label * channel]
          classes[index] = UInt8(label)
        }
      }
      return classes
    }
  }

  private func tooMany(_ found: String) -> VisionError {
    .invalidModel("output '\(name)' has \(found), and a label map holds classes 0 to \(Self.largestClass)")
  }
}
