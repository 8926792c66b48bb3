import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension Function {
  /// Creates the function of an ML Program with the features of the model's description. Without a description, the
  /// inputs and outputs are tensors.
  init(
    _ function: MILFunction, name: String, _ description: CoreMLFunctionDescription?, file: String, files: ModelFiles
  ) throws(FormatError) {
    let function = try function.markingGrowingLists(files)
    var types: [String: MILType] = [:]
    for input in function.inputs { types[input.name] = input.type }
    for operation in function.block.operations {
      for output in operation.outputs { types[output.name] = output.type }
    }
    var inputs: [Feature] = []
    for input in function.inputs {
      let described = description?.inputs.first { $0.name == input.name }
      let state = description?.states.first { $0.name == input.name }
      inputs.append(try Feature(described ?? state, named: input.name, input.type, file: file))
    }
    if let description {
      for feature in description.inputs + description.states where types[feature.name] == nil {
        throw FormatError(
          .malformed, file: file, place: "input '\(feature.name)'",
          "the description declares it, function '\(name)' does not have it")
      }
    }
    let classification = try MILClassification(function.block, files, file: file)
    var outputs: [Feature] = []
    for output in description?.outputs.map(\.name) ?? function.block.outputs {
      if description == nil, let type = classification?.type(of: output) {
        outputs.append(Feature(name: output, type: type))
        continue
      }
      let described = description?.outputs.first { $0.name == output }
      outputs.append(try Feature(described, named: output, types[output] ?? MILType(), file: file))
    }
    guard !outputs.isEmpty else {
      throw FormatError(.malformed, file: file, place: "function '\(name)'", "it has no outputs")
    }
    var values = outputs.map(\.name)
    var slots = values
    var steps: [any HostOperation] = []
    if let classification {
      let label = description?.predictedFeature ?? ""
      let labelOutput = label.isEmpty ? classification.labelOutput : label
      let named = description?.predictedProbabilities ?? ""
      let probabilities = named.isEmpty ? classification.probabilitiesOutput : named
      values.removeAll { $0 == labelOutput || $0 == probabilities }
      slots = values
      // The value in the program may have the same name as the dictionary made from it.
      let isOutput = values.contains(classification.probabilities)
      let scores = isOutput ? classification.probabilities : "\(classification.probabilities)#scores"
      if !isOutput {
        values.append(classification.probabilities)
        slots.append(scores)
      }
      steps.append(TopLabel(classification.labels, scores: scores, output: labelOutput))
      if outputs.contains(where: { $0.name == probabilities }) {
        steps.append(LabelDictionary(classification.labels, scores: scores, output: probabilities))
      }
    }
    let graphs = try MILParts(function: function, inputs: inputs, file: file, files: files).parts(
      values, slots: Dictionary(zip(values, slots)) { first, _ in first })
    self = try Function(inputs: inputs, outputs: outputs, parts: graphs + steps.map { .host($0) }).checked(file: file)
    runningOnHost = { names in
      try Function(function.runningOnHost(names), name: name, description, file: file, files: files)
    }
  }
}

/// The contents of a program's `classify` operation.
struct MILClassification {
  let labels: Labels
  /// The name of the value that holds the probabilities.
  let probabilities: String
  let labelOutput: String
  let probabilitiesOutput: String

  /// Returns the kind of feature of an output of the operation, or nil for another value.
  func type(of output: String) -> FeatureKind? {
    switch output {
    case labelOutput: labels.isString ? .string : .int64
    case probabilitiesOutput: .dictionary(keys: labels.isString ? .string : .int64)
    default: nil
    }
  }

  /// Returns nil if the block has no `classify` operation.
  init?(_ block: MILBlock, _ files: ModelFiles, file: String) throws(FormatError) {
    guard let operation = block.operations.first(where: { $0.kind == "classify" }) else { return nil }
    func malformed(_ reason: String) -> FormatError {
      FormatError(.malformed, file: file, place: "classify '\(operation.name)'", offset: operation.offset, reason)
    }
    guard case .name(let probabilities)? = operation.inputs["probabilities"]?.first, operation.outputs.count == 2 else {
      throw malformed("expected a value 'probabilities' and two outputs")
    }
    let classes: MILValue?
    switch operation.inputs["classes"]?.first {
    case .value(let value): classes = value
    case .name(let name):
      classes = block.operations.first { $0.kind == "const" && $0.outputs.first?.name == name }?.attributes["val"]
    case nil: classes = nil
    }
    guard let classes else { throw malformed("its classes are not constant") }
    let strings = try classes.strings()
    labels = strings.isEmpty ? .integers(try classes.listedIntegers(files)) : .strings(strings)
    guard labels.count > 0 else { throw malformed("it has no classes") }
    self.probabilities = probabilities
    labelOutput = operation.outputs[0].name
    probabilitiesOutput = operation.outputs[1].name
  }
}

extension Feature {
  /// Creates a feature of a function from a value of the given type in the program.
  init(_ described: CoreMLFeature?, named name: String, _ type: MILType, file: String) throws(FormatError) {
    self.init(
      name: name, type: try Self.type(described?.kind ?? .unknown, named: name, type, file: file),
      isOptional: described?.isOptional ?? false, summary: described?.summary ?? "")
    if case .array(let array)? = described?.kind {
      defaultValue = array.standardValue
      if type.tensorType == nil { allowedShapes = array.shapes }
    }
  }

  private static func type(
    _ kind: CoreMLFeature.Kind, named name: String, _ type: MILType, file: String
  ) throws(FormatError) -> FeatureKind {
    func malformed(_ reason: String) -> FormatError {
      FormatError(.malformed, file: file, place: "feature '\(name)'", reason)
    }
    switch kind {
    case .int64: return .int64
    case .double: return .double
    case .string: return .string
    case .dictionary(let keys): return .dictionary(keys: keys)
    case .sequence(let elements): return .sequence(of: elements)
    case .image(let described):
      guard let layout = described.layout else { throw malformed("color space \(described.colorSpace) is not known") }
      let image = ImageFeature(
        width: described.width, height: described.height, sizes: described.sizes, layout: layout,
        scalar: type.scalar ?? .float32)
      if let tensor = type.tensorType, tensor.shape != image.tensorShape {
        throw malformed("it is an image of \(image.tensorShape), the program has \(tensor)")
      }
      return .image(image)
    case .array(let array): return try tensor(array, named: name, type, malformed)
    case .state(let array):
      guard case .tensor(let scalar, let dimensions) = try tensor(array, named: name, type, malformed) else {
        throw malformed("its state is not a tensor")
      }
      return .state(scalar, dimensions)
    case .unknown:
      guard let scalar = type.scalar else { throw malformed("the model does not declare its type") }
      let dimensions = type.sizes.enumerated().map { dimension(name, $0, $1) }
      return type.isState ? .state(scalar, dimensions) : .tensor(scalar, dimensions)
    }
  }

  private static func tensor(
    _ array: CoreMLArray, named name: String, _ type: MILType, _ malformed: (String) -> FormatError
  ) throws(FormatError) -> FeatureKind {
    typealias Number = CoreMLSchema.ArrayFeatureType.ArrayDataType
    let described: ScalarType?
    switch array.dataType {
    case Number.float16: described = .float16
    case Number.float32: described = .float32
    case Number.double: described = .float64
    case Number.int8: described = .int8
    case Number.int32: described = .int32
    default: described = nil
    }
    guard let scalar = type.scalar ?? described else { throw malformed("array data type \(array.dataType)") }
    if type.dataType == nil { return .tensor(scalar, dimensions(array, named: name)) }
    var dimensions: [Dimension] = []
    for (axis, size) in type.sizes.enumerated() {
      if let size {
        if array.shape.count == type.sizes.count, array.ranges.isEmpty, array.shape[axis] != size {
          throw malformed("the description has shape \(Shape(array.shape)), the program \(size) at axis \(axis)")
        }
        dimensions.append(dimension(name, axis, size))
      } else {
        let range = axis < array.ranges.count ? array.ranges[axis] : 1...Int.max
        let standard = axis < array.shape.count && range.contains(array.shape[axis]) ? array.shape[axis] : nil
        dimensions.append(.flexible(name: "\(name).\(axis)", range: range, standard: standard))
      }
    }
    return .tensor(scalar, dimensions)
  }

  /// Returns the dimensions that a description allows.
  private static func dimensions(_ array: CoreMLArray, named name: String) -> [Dimension] {
    (0..<max(array.shape.count, array.ranges.count)).map { axis in
      let standard = axis < array.shape.count ? array.shape[axis] : nil
      guard axis < array.ranges.count else { return dimension(name, axis, standard) }
      let range = array.ranges[axis]
      if range.lowerBound == range.upperBound { return .fixed(range.lowerBound) }
      return .flexible(
        name: "\(name).\(axis)", range: range,
        standard: standard.flatMap { range.contains($0) ? $0 : nil } ?? max(range.lowerBound, 1))
    }
  }

  private static func dimension(_ name: String, _ axis: Int, _ size: Int?) -> Dimension {
    if let size, size >= 0 { return .fixed(size) }
    return .flexible(name: "\(name).\(axis)", range: 1...Int.max, standard: nil)
  }
}
