import Kelvin
package import KelvinGraph

/// The search for the input of a model that takes an image.
package enum ImageInput {
  /// Returns the name and type of the only image input. A plain tensor input is converted to an image input according
  /// to `normalization`.
  ///
  /// - Parameter normalization: The normalization for a model whose input is a plain tensor.
  /// - Throws: `VisionError` with the remedy where the model takes no image, several images, or requires other inputs.
  package static func only(
    of function: inout Function, _ graph: Graph, _ normalization: PixelNormalization?
  ) throws(VisionError) -> (name: String, image: ImageFeature) {
    let (position, image) = try place(&function, graph, normalization)
    let others = function.inputs.indices.filter { index in
      index != position && !function.inputs[index].isOptional && function.inputs[index].defaultValue == nil
    }
    guard others.isEmpty else {
      let names = others.map { "'\(function.inputs[$0].name)'" }.joined(separator: ", ")
      throw .invalidModel("the model also needs \(names)")
    }
    return (function.inputs[position].name, image)
  }

  private static func place(
    _ function: inout Function, _ graph: Graph, _ normalization: PixelNormalization?
  ) throws(VisionError) -> (position: Int, image: ImageFeature) {
    let images = function.inputs.indices.compactMap { index in
      if case .image(let image) = function.inputs[index].type { (position: index, image: image) } else { nil }
    }
    if images.count > 1 {
      throw .invalidModel("the model takes \(images.count) images")
    }
    if let only = images.first {
      guard normalization == nil else {
        throw .invalidRequest(
          "the model defines how pixels enter '\(function.inputs[only.position].name)'; leave the normalization out"
        )
      }
      return only
    }
    let tensors = function.inputs.indices.compactMap { index -> (index: Int, type: TensorType)? in
      guard let id = graph.inputs.first(where: { graph[$0].name == function.inputs[index].name }) else { return nil }
      let type = graph[id].type
      let isImage =
        type.scalar.isFloatingPoint && type.shape.rank == 4 && type.shape[0] == 1
        && type.shape.dimensions.allSatisfy { $0 > 0 } && type.shape.channelAxis != nil
      return isImage ? (index, type) : nil
    }
    // Beside an image of planes, a tensor with a last axis of 1 is something else, such as a mask.
    let planar = tensors.filter { $0.type.shape.channelAxis == 1 }
    let plain = planar.isEmpty ? tensors : planar
    guard plain.count == 1, let input = plain.first, let axis = input.type.shape.channelAxis else {
      let inputs = function.inputs.map { "'\($0.name)' (\($0.type.text))" }.joined(separator: ", ")
      throw .invalidModel(
        "the model takes no image: expected one image input or one float tensor 1x3xHxW or 1xHxWx3, it has \(inputs)")
    }
    let name = function.inputs[input.index].name
    guard let normalization else {
      throw .missingNormalization(
        "input '\(name)' is a plain tensor (\(input.type)), which does not say how pixels enter it; "
          + "give a normalization: \(PixelNormalization.names)")
    }
    let channels = input.type.shape[axis]
    let rows = axis == 1 ? 2 : 1
    var image = ImageFeature(
      width: input.type.shape[rows + 1], height: input.type.shape[rows],
      layout: channels == 1 ? .grayscale : normalization.order == .bgr ? .bgr : .rgb,
      scalar: input.type.scalar, scale: try normalization.scale(channels: channels),
      bias: try normalization.bias(channels: channels))
    image.isInterleaved = axis == 3
    function.inputs[input.index].type = .image(image)
    return (input.index, image)
  }
}

extension Shape {
  /// The axis of 1 or 3 channels of an image's tensor: the second axis, else the last one.
  fileprivate var channelAxis: Int? { [1, 3].first { [1, 3].contains(self[$0]) } }
}

extension Graph {
  /// Whether a value is the output of softmax or the logistic function, possibly transposed, reshaped or cast
  /// afterwards.
  func isNormalized(_ value: ValueID) -> Bool {
    let producers = producers()
    var value = value
    while let index = producers[value.index] {
      let node = nodes[index]
      if node.op is Softmax { return true }
      if let unary = node.op as? Unary { return unary.function.kind == .sigmoid }
      // The activation may be fused into the operator that computes its operand.
      let epilogue = (node.op as? Convolution)?.epilogue ?? (node.op as? Linear)?.epilogue
      if let epilogue { return epilogue.activation?.kind == .sigmoid }
      guard node.op is Reshape || node.op is Cast || node.op is Transpose, let input = node.inputs.first else {
        return false
      }
      value = input
    }
    return false
  }
}
