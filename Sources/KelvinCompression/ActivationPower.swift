public import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinImport

/// An operation that multiplies a value with a weight.
struct WeightUse {
  /// The weight's record.
  let record: Int
  /// The value.
  let input: String
  /// The type of the value's elements.
  let type: ElementType
  let shape: [Int]
  /// The axis of the value's channels.
  let axis: Int
  /// The axis of the weight's inputs.
  let weightAxis: Int

  var channelCount: Int { shape[axis] }
  var channels: Channels { Channels(value: ExactString(input), axis: axis) }

  /// The channels of a value.
  struct Channels: Hashable {
    let value: ExactString
    let axis: Int
  }

  /// Returns the mean square of each channel.
  ///
  /// - Parameter values: The value's elements.
  func meanSquares(_ values: [Float]) -> [Double] {
    let (count, inner) = (channelCount, shape[(axis + 1)...].reduce(1, *))
    var sums = [Double](repeating: 0, count: count)
    for start in stride(from: 0, to: values.count - inner + 1, by: inner) {
      var sum: Float = 0
      for place in start..<start + inner { sum += values[place] * values[place] }
      sums[start / inner % count] += Double(sum)
    }
    return sums.map { $0 * Double(count) / Double(max(values.count, 1)) }
  }
}

/// Finds the operations of a function that multiply with weights, and the values that they multiply.
struct WeightUses {
  private(set) var found: [WeightUse] = []
  /// By name, the record and the shape of a constant.
  private var weights: [ExactString: (record: Int, shape: [Int])] = [:]
  /// By name, the type and the shape of an operation's output with constant sizes.
  private var values: [ExactString: (type: ElementType, shape: [Int])] = [:]

  mutating func read(_ operation: WireMessage, _ files: WeightFiles) throws(FormatError) {
    if let tensor = try StoredTensor(operation, files) {
      weights[ExactString(tensor.name)] = (tensor.record, tensor.shape)
    }
    let kind = try operation.last(Fields.Operation.type)?.string() ?? ""
    if let name = Self.inputs[kind] { try use(operation, kind, weight: name) }
    for output in try operation.messages(Fields.Operation.outputs) {
      guard let name = try output.last(Fields.NamedValueType.name)?.string(),
        let tensor = try output.last(Fields.NamedValueType.type)?.message().last(Fields.ValueType.tensorType)?.message()
      else { continue }
      let number = try tensor.last(Fields.TensorType.dataType)?.integer() ?? 0
      var shape: [Int] = []
      try tensor.each(Fields.TensorType.dimensions) { (field) throws(FormatError) in
        let constant = try field.message().last(Fields.Dimension.constant)?.message()
        shape.append(try constant?.last(Fields.Dimension.size)?.integer() ?? 0)
      }
      guard let type = ElementType(rawValue: number), type == .float16 || type == .float32,
        Shape(shape).isAddressable, !shape.contains(0)
      else { continue }
      values[ExactString(name)] = (type, shape)
    }
  }

  /// By operation, the input that is the weight.
  private static let inputs = ["conv": "weight", "linear": "weight", "matmul": "y"]

  private mutating func use(_ operation: WireMessage, _ kind: String, weight name: String) throws(FormatError) {
    var names: [ExactString: String] = [:]
    for entry in try operation.messages(Fields.Operation.inputs) {
      guard let key = try entry.last(Fields.MapEntry.key)?.string(),
        let argument = try entry.last(Fields.MapEntry.value)?.message(),
        let binding = try argument.last(Fields.Argument.arguments)?.message()
      else { continue }
      names[ExactString(key)] = try binding.last(Fields.Binding.name)?.string()
    }
    guard let input = names["x"], let value = values[ExactString(input)],
      let weight = names[ExactString(name)].flatMap({ weights[ExactString($0)] })
    else { return }
    let (rank, shape) = (value.shape.count, weight.shape)
    guard rank > 1, shape.count > 1 else { return }
    let axis = kind == "conv" ? 1 : rank - 1
    let channels = value.shape[axis]
    var weightAxis = 1
    if kind == "matmul" {
      // Of a square matrix the axis is not known without the operation's flags.
      guard shape.count == 2, shape[0] != shape[1] else { return }
      weightAxis = shape[0] == channels ? 0 : 1
    }
    // Outputs of a convolution with groups see different channels, and what follows may count them differently.
    guard shape[weightAxis] == channels else { return }
    found.append(
      WeightUse(
        record: weight.record, input: input, type: value.type, shape: value.shape, axis: axis, weightAxis: weightAxis))
  }
}

extension ModelCompressor {
  /// Returns a compressor whose palettes and 4-bit integers count the squared error of an element by the mean square of
  /// the values that the model multiplies it with.
  ///
  /// The values are inputs of convolutions without groups, linear layers and products in an ML Program. Weights of other
  /// operations, and of ONNX models, count all elements equally.
  ///
  /// - Parameters:
  ///   - samples: Inputs of the model, at least one.
  ///   - configuration: How the model is run.
  /// - Returns: The compressor, and the number of weights whose elements count differently.
  /// - Throws: `ModelError` if the model cannot be run.
  public func weighted(
    by samples: [DictionaryFeatureProvider], configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> (compressor: ModelCompressor, weightCount: Int) {
    guard let probe = try probe() else { return (self, 0) }
    let model = try await Model.load(asset: probe.asset, configuration: configuration.forCopies)
    var powers: [WeightUse.Channels: [Double]] = [:]
    for sample in samples {
      let output = try await model.prediction(from: sample)
      var seen: Set<WeightUse.Channels> = []
      for use in probe.uses where seen.insert(use.channels).inserted {
        guard let array = output[use.input]?.multiArrayValue, array.count == use.shape.reduce(1, *) else { continue }
        let squares = use.meanSquares(array.floats)
        powers[use.channels] = zip(powers[use.channels] ?? squares.map { _ in 0 }, squares).map { $0 + $1 }
      }
    }
    var importance: [Int: ChannelImportance] = [:]
    for use in probe.uses {
      guard let power = powers[use.channels], let found = ChannelImportance(power, weightAxis: use.weightAxis) else {
        continue
      }
      // A weight that several operations share counts for the first.
      importance[use.record] = importance[use.record] ?? found
    }
    return (weighted(by: importance), importance.count)
  }
}

/// How much the squared error of an element counts, by its input channel.
struct ChannelImportance: Hashable {
  let channels: [Float]
  let weightAxis: Int

  /// A channel counts at least this share of the mean.
  private static let least = 0.01

  /// - Parameter powers: The mean squares of the channels. Nil is returned if they are not finite, or all 0.
  init?(_ powers: [Double], weightAxis: Int) {
    let mean = powers.reduce(0, +) / Double(max(powers.count, 1))
    guard mean.isFinite, mean > 0 else { return nil }
    channels = powers.map { Float(max($0 / mean, Self.least)) }
    self.weightAxis = weightAxis
  }

  /// Returns the importance of each element of a weight.
  func elements(_ shape: [Int]) -> [Float] {
    let inner = shape[(weightAxis + 1)...].reduce(1, *)
    return (0..<shape.reduce(1, *)).map { channels[$0 / inner % channels.count] }
  }
}

extension ModelConfiguration {
  /// For copies in memory, of a model whose files the compressor has read.
  var forCopies: ModelConfiguration {
    var configuration = self
    configuration.usesCache = false
    configuration.isolation = .none
    return configuration
  }
}
