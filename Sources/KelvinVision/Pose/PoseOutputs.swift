import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinRuntime

/// The outputs of a model that locates the joints of bodies, in PoseNet's layout.
struct PoseOutputs: Sendable {
  /// The supported distances between neighbouring cells in pixels of the input, in the order in which they are tried.
  private static let strides = [8, 16, 32, 4]

  private let heatmap: String
  private let offsets: String
  private let displacements: (forward: String, backward: String)?
  /// Whether the heat map holds logits.
  private let areLogits: Bool

  var hasDisplacements: Bool { displacements != nil }

  /// Finds the outputs by their numbers of channels and their names.
  ///
  /// - Throws: `VisionError.invalidModel` that lists the model's outputs.
  init(_ model: LoadedModel) throws(VisionError) {
    let outputs = model.function.outputs.compactMap { HeadOutput($0, in: model) }.filter(\.isFloat)
    func find(_ channels: Int, _ signs: [String]) -> HeadOutput? {
      let fitting = outputs.filter { output in
        output.shape.count >= 3 && (output.shape[output.shape.count - 3] == channels || output.shape.last == channels)
      }
      return signs.lazy.compactMap { sign in
        let named = fitting.filter { $0.name.lowercased().contains(sign) }
        return named.count == 1 ? named.first : nil
      }.first
    }
    let joints = PoseNet.joints.count
    guard let heatmap = find(joints, ["heat", "score", "part"]), let offsets = find(2 * joints, ["offset"]) else {
      throw .invalidModel(
        "the model is not a PoseNet: expected outputs 'heatmap' of \(joints) channels and 'offsets' of "
          + "\(2 * joints), for several poses also 'displacementFwd' and 'displacementBwd' of \(2 * PoseNet.edges.count); "
          + "it has \(model.function.outputs.map { "'\($0.name)' (\($0.type.text))" }.joined(separator: ", "))")
    }
    self.heatmap = heatmap.name
    self.offsets = offsets.name
    let forward = find(2 * PoseNet.edges.count, ["fwd", "forward"])
    let backward = find(2 * PoseNet.edges.count, ["bwd", "backward"])
    displacements = if let forward, let backward { (forward.name, backward.name) } else { nil }
    let isNormalized = model.graphs.contains { loaded in
      guard let loaded, let place = loaded.part.outputs.firstIndex(of: heatmap.name) else { return false }
      return loaded.context.graph.isNormalized(loaded.context.graph.outputs[place])
    }
    areLogits = !isNormalized
  }

  /// Returns the maps of a prediction.
  ///
  /// - Parameter input: The size of the model's image input.
  /// - Throws: `VisionError.invalidModel` for maps whose sizes do not match each other or the input.
  func maps(_ outputs: DictionaryFeatureProvider, _ input: ImageFeature.Size) throws(VisionError) -> PoseNet {
    func array(_ name: String) throws(VisionError) -> (shape: [Int], values: [Float]) {
      guard let array = outputs[name]?.multiArrayValue else {
        throw .invalidModel("the model computes no array '\(name)'")
      }
      var shape = array.shape
      while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
      return (shape, array.floats)
    }
    // The offsets determine the axis order: a map may have as many rows as the heat map has channels, but not twice as
    // many.
    let places = try array(offsets)
    let joints = PoseNet.joints.count
    let isFirst = places.shape.first == 2 * joints
    guard places.shape.count == 3, isFirst || places.shape[2] == 2 * joints else {
      throw .invalidModel("output '\(offsets)' is \(Self.text(places.shape)): expected \(2 * joints) channels")
    }
    let (rows, columns) = isFirst ? (places.shape[1], places.shape[2]) : (places.shape[0], places.shape[1])
    func isStride(_ stride: Int) -> Bool {
      rows == (input.height + stride - 1) / stride && columns == (input.width + stride - 1) / stride
    }
    guard let stride = Self.strides.first(where: isStride) else {
      throw .invalidModel(
        "output '\(offsets)' is \(Self.text(places.shape)): expected the rows and columns of an input of "
          + "\(input.width)x\(input.height) at a stride of 4, 8, 16 or 32")
    }
    func map(_ name: String, _ channels: Int) throws(VisionError) -> PoseNet.Map {
      let (shape, values) = try array(name)
      let expected = isFirst ? [channels, rows, columns] : [rows, columns, channels]
      guard shape == expected else {
        throw .invalidModel("output '\(name)' is \(Self.text(shape)): expected \(Self.text(expected))")
      }
      return PoseNet.Map(
        values: values, channelStride: isFirst ? rows * columns : 1, rowStride: isFirst ? columns : columns * channels,
        columnStride: isFirst ? 1 : channels)
    }
    var moves: (forward: PoseNet.Map, backward: PoseNet.Map)?
    if let displacements {
      let channels = 2 * PoseNet.edges.count
      moves = (try map(displacements.forward, channels), try map(displacements.backward, channels))
    }
    return PoseNet(
      rows: rows, columns: columns, stride: stride, heatmap: try map(heatmap, joints), areLogits: areLogits,
      offsets: try map(offsets, 2 * joints), displacements: moves)
  }

  private static func text(_ shape: [Int]) -> String { shape.map(String.init).joined(separator: "x") }
}
