import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The typed features of an ONNX model: tensors, images if the metadata describes them, and a classifier if there are
/// labels.
struct ONNXFeatures {
  var inputs: [Feature] = []
  var outputs: [Feature] = []
  /// The host operations after the graph.
  var steps: [any HostOperation] = []

  init(_ model: ONNXModel, file: String) throws(FormatError) {
    for value in model.graph.inputs where model.graph.initializers[value.name] == nil {
      let type = try Self.type(value, isInput: true, file: file)
      var feature = Feature(
        name: value.name, type: Self.image(type, model.metadata) ?? type, isOptional: value.isOptional,
        summary: value.summary)
      feature.takesAnyShape = value.hasUnknownRank
      inputs.append(feature)
    }
    for value in model.graph.outputs {
      let type = try Self.type(value, isInput: false, file: file)
      var feature = Feature(name: value.name, type: type, isOptional: value.isOptional, summary: value.summary)
      feature.hasComputedType = value.hasUnknownType
      outputs.append(feature)
    }
    guard !outputs.isEmpty else { throw FormatError(.malformed, file: file, "its graph has no outputs") }
    addClassifier(model)
  }

  /// Returns the initializers that are also inputs, which callers may override from format version 4 on. In earlier
  /// versions every initializer was an input.
  static func overridable(_ model: ONNXModel, file: String) -> [Feature] {
    guard model.irVersion >= 4 else { return [] }
    return model.graph.inputs.filter { model.graph.initializers[$0.name] != nil }.compactMap { value in
      // A value of a type that inputs cannot have is a constant.
      guard let type = try? Self.type(value, isInput: true, file: file) else { return nil }
      var feature = Feature(name: value.name, type: type, isOptional: true, summary: value.summary)
      feature.takesAnyShape = value.hasUnknownRank
      return feature
    }
  }

  private static func type(
    _ value: ONNXValueInfo, isInput: Bool, file: String
  ) throws(FormatError) -> FeatureKind {
    let place = "\(isInput ? "input" : "output") '\(value.name)'"
    switch value.kind {
    case .map(let key): return .dictionary(keys: key == ONNXSchema.TensorProto.DataType.string ? .string : .int64)
    case .maps(let key): return .dictionaries(keys: key == ONNXSchema.TensorProto.DataType.string ? .string : .int64)
    case .tensor, .tensors, .other: break
    }
    if !isInput, value.hasUnknownType { return .tensor(.float32, []) }
    guard let number = value.elementType else {
      throw FormatError(
        .unsupported, file: file, place: place, offset: value.offset,
        "it is neither a tensor, nor a map to numbers, nor a sequence of tensors or of such maps")
    }
    if number == ONNXSchema.TensorProto.DataType.string {
      guard case .tensor = value.kind else {
        throw FormatError(
          .unsupported, file: file, place: place, offset: value.offset, "it is a sequence of arrays of strings")
      }
      return .strings(dimensions(value))
    }
    guard let scalar = ScalarType(onnx: number) ?? value.lowPrecisionType?.scalar else {
      throw FormatError(
        .unsupported, file: file, place: place, offset: value.offset, "its element type is ONNX's number \(number)")
    }
    if case .tensors = value.kind { return .tensors(scalar) }
    return .tensor(scalar, dimensions(value))
  }

  private static func dimensions(_ value: ONNXValueInfo) -> [Dimension] {
    (value.sizes ?? []).enumerated().map { axis, size in
      if let value = size.value { return .fixed(value) }
      // Some exporters name every unknown size "?". Equal names mean equal sizes, but these sizes are independent.
      let name = size.name.flatMap { $0.isEmpty || $0 == "?" ? nil : $0 } ?? "\(value.name).\(axis)"
      // Zero is a valid size too: a decoder's cache is empty before its first token.
      return .flexible(name: name, range: 0...Int.max, standard: axis == 0 ? 1 : nil)
    }
  }

  /// Returns the image type of a `[N, 3 or 1, H, W]` input according to the model's `Image.…` metadata, or nil.
  ///
  /// Reference: ONNX, `docs/MetadataProps.md`.
  private static func image(_ type: FeatureKind, _ metadata: [String: String]) -> FeatureKind? {
    guard let format = metadata["Image.BitmapPixelFormat"]?.lowercased(),
      case .tensor(let scalar, let dimensions) = type, scalar.isFloatingPoint, dimensions.count == 4,
      case .fixed(let channels) = dimensions[1], case .fixed(let height) = dimensions[2],
      case .fixed(let width) = dimensions[3]
    else { return nil }
    switch dimensions[0] {
    case .fixed(1), .flexible: break
    default: return nil
    }
    let layout: ImageFeature.ColorLayout
    switch channels {
    case 1 where format.hasPrefix("gray"): layout = .grayscale
    case 3 where format.hasPrefix("rgb"): layout = .rgb
    case 3 where format.hasPrefix("bgr"): layout = .bgr
    default: return nil
    }
    let (scale, bias): (Float, Float)
    switch metadata["Image.NominalPixelRange"] {
    case "Normalized_0_1": (scale, bias) = (1 / 255, 0)
    case "Normalized_1_1": (scale, bias) = (2 / 255, -1)
    case "NominalRange_16_235": (scale, bias) = (219 / 255, 16)
    default: (scale, bias) = (1, 0)
    }
    return .image(
      ImageFeature(
        width: width, height: height, layout: layout, scalar: scalar, scale: [Float](repeating: scale, count: channels),
        bias: [Float](repeating: bias, count: channels)))
  }

  private mutating func addClassifier(_ model: ONNXModel) {
    guard let labels = Self.labels(model.metadata) else { return }
    let fitting = outputs.indices.filter { count(outputs[$0]) == labels.count }
    let softmax = Set(model.graph.nodes.filter { $0.domain.isEmpty && $0.kind == "Softmax" }.flatMap(\.outputs))
    let probable = fitting.filter { softmax.contains(outputs[$0].name) }
    guard let position = fitting.count == 1 ? fitting[0] : probable.count == 1 ? probable[0] : nil else { return }
    let taken = Set(outputs.map(\.name))
    guard !taken.contains("classLabel"), !taken.contains("classLabel_probs") else { return }
    let keys: FeatureKind.KeyType
    switch labels {
    case .strings: keys = .string
    case .integers: keys = .int64
    }
    let scores = outputs[position].name
    outputs.append(Feature(name: "classLabel", type: keys == .string ? .string : .int64))
    outputs.append(Feature(name: "classLabel_probs", type: .dictionary(keys: keys)))
    steps = [
      TopLabel(labels, scores: scores, output: "classLabel", readsFirstRow: true),
      LabelDictionary(labels, scores: scores, output: "classLabel_probs", rows: .first),
    ]
  }

  /// Returns the number of elements of a tensor output, where an open batch size counts as 1.
  private func count(_ feature: Feature) -> Int? {
    guard case .tensor(_, let dimensions) = feature.type, !dimensions.isEmpty else { return nil }
    let sizes = dimensions.compactMap(\.standard)
    return sizes.count == dimensions.count && Shape(sizes).isAddressable ? Shape(sizes).count : nil
  }

  /// Returns the labels in the metadata: a JSON list, or an object from indices to labels, under one of the names that
  /// exporters use.
  private static func labels(_ metadata: [String: String]) -> Labels? {
    for key in ["classes", "labels", "names"] {
      guard let string = metadata[key], string.utf8.count < 1 << 24 else { continue }
      let data = Data(string.utf8)
      if let labels = try? JSONText.decode([String].self, from: data), !labels.isEmpty { return .strings(labels) }
      if let labels = try? JSONText.decode([Int64].self, from: data), !labels.isEmpty { return .integers(labels) }
      if let labels = try? JSONText.decode([String: String].self, from: data), !labels.isEmpty {
        let ordered = (0..<labels.count).compactMap { labels["\($0)"] }
        if ordered.count == labels.count { return .strings(ordered) }
      }
    }
    return nil
  }
}
