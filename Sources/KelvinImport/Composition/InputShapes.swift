package import KelvinGraph

/// Resolves the size of every input from the caller's shapes and the model's declarations.
///
/// - Parameter computed: The types of inputs that other parts compute, by name.
/// - Returns: A type for each tensor or image input that is not computed, by name.
/// - Throws: `FormatError` with code `.shapes`, naming the input and the dimension.
package func resolveInputTypes(
  _ features: [Feature], given: [String: Shape], computed: [String: TensorType] = [:], file: String
) throws(FormatError) -> [String: TensorType] {
  for name in given.keys.sorted() where !features.contains(where: { $0.name == name }) {
    throw FormatError(
      .shapes, file: file, place: "input '\(name)'", "the model has no such input",
      remedy: "its inputs are \(features.map { "'\($0.name)'" }.joined(separator: ", "))")
  }
  var bound: [String: Int] = [:]
  for feature in features {
    guard let whole = given[feature.name], case .tensor(_, let dimensions) = feature.type else { continue }
    let shape = feature.described(whole)
    guard shape.rank == dimensions.count, feature.allowedShapes.isEmpty || feature.allowedShapes.contains(shape) else {
      throw mismatch(feature, shape, file)
    }
    for (dimension, size) in zip(dimensions, shape.dimensions) {
      switch dimension {
      case .fixed(let expected):
        guard size == expected else { throw mismatch(feature, shape, file) }
      case .flexible(let name, let range, _):
        guard range.contains(size), bound[name] == nil || bound[name] == size else {
          throw mismatch(feature, shape, file)
        }
        bound[name] = size
      }
    }
  }
  var types: [String: TensorType] = [:]
  for feature in features where computed[feature.name] == nil {
    switch feature.type {
    case .image(let image):
      let shape = given[feature.name] ?? image.tensorShape
      let rows = image.isInterleaved ? 1 : 2
      guard shape.rank == 4, shape == image.tensorShape(.init(width: shape[rows + 1], height: shape[rows])),
        image.accepts(.init(width: shape[3], height: shape[2]))
      else { throw mismatch(feature, shape, file) }
      types[feature.name] = TensorType(image.scalar, shape)
    case .tensor where feature.takesAnyShape && given[feature.name] == nil:
      throw FormatError(
        .shapes, file: file, place: "input '\(feature.name)'", "the model does not declare its shape",
        remedy: "give its shape (--shape \(feature.name)=…)")
    case .tensor(let scalar, let dimensions), .state(let scalar, let dimensions):
      var sizes: [Int] = []
      for (axis, dimension) in dimensions.enumerated() {
        switch dimension {
        case .fixed(let size): sizes.append(size)
        case .flexible(let name, _, let standard):
          guard let size = bound[name] ?? standard else {
            throw FormatError(
              .shapes, file: file, place: "input '\(feature.name)'",
              "the size of dimension '\(name)' (axis \(axis)) is not known",
              remedy: "give the input's shape (--shape \(feature.name)=…)")
          }
          sizes.append(size)
        }
      }
      let whole = given[feature.name].map { Array($0.dimensions.dropLast(sizes.count)) } ?? []
      types[feature.name] = TensorType(scalar, Shape(whole + sizes))
    case .int64: types[feature.name] = TensorType(.int64, [1])
    case .double: types[feature.name] = TensorType(.float64, [1])
    case .string, .dictionary, .sequence, .strings, .dictionaries, .tensors:
      throw FormatError(.unsupported, file: file, place: "input '\(feature.name)'", "its type is not supported yet")
    }
  }
  for (name, type) in types where !type.shape.isAddressable {
    throw FormatError(.shapes, file: file, place: "input '\(name)'", "\(type.shape) is too large")
  }
  return types
}

private func mismatch(_ feature: Feature, _ shape: Shape, _ file: String) -> FormatError {
  let expected: String
  switch feature.type {
  case .image(let image): expected = image.allowedShapes
  case .tensor where !feature.allowedShapes.isEmpty:
    expected = feature.allowedShapes.prefix(8).map(\.description).joined(separator: " or ")
  case .tensor(_, let dimensions): expected = dimensions.map(\.description).joined(separator: " × ")
  default: expected = "one value"
  }
  return FormatError(
    .shapes, file: file, place: "input '\(feature.name)'", "shape \(shape) does not fit, expected \(expected)")
}

extension ImageFeature {
  fileprivate var allowedShapes: String {
    switch sizes {
    case .fixed: tensorShape.description
    case .enumerated(let sizes): sizes.prefix(8).map { tensorShape($0).description }.joined(separator: " or ")
    case .ranged(let widths, let heights): "1x\(channels)x\(text(heights))x\(text(widths))"
    }
  }

  private func text(_ range: ClosedRange<Int>) -> String {
    range.upperBound == .max ? "(\(range.lowerBound) or more)" : "(\(range.lowerBound)…\(range.upperBound))"
  }
}
