import Kelvin

/// A model with token inputs, the roles of its inputs, and the lengths that it accepts.
struct TokenModel: Sendable {
  let model: Model
  /// The name of each input, by role.
  let names: [TokenInput: String]
  /// The maximum number of tokens; nil if the model does not limit it.
  let capacity: Int?
  private let padding: Int
  /// The allowed lengths; empty if any length is allowed.
  private let lengths: [Int]

  /// - Parameters:
  ///   - roles: the names of inputs whose names do not show their role.
  ///   - padding: the ID of the padding token.
  /// - Throws: `ModelError` with code `parameters` for a model without token inputs, or with other required inputs.
  init(_ model: Model, roles: [TokenInput: String], padding: Int) throws(ModelError) {
    self.model = model
    self.padding = padding
    let description = model.modelDescription
    var names = roles
    for (role, name) in roles.sorted(by: { $0.value < $1.value })
    where description.inputDescriptionsByName[name] == nil {
      throw ModelError(
        .parameters,
        "the model has no input '\(name)' for \(role.rawValue); it has \(Self.list(description.inputNames))")
    }
    for input in description.inputNames where !roles.values.contains(input) {
      let plain = String(input.lowercased().filter { $0.isLetter || $0.isNumber })
      guard let role = TokenInput.allCases.first(where: { $0.names.contains(plain) && names[$0] == nil }) else {
        guard description.inputDescriptionsByName[input]?.isOptional != true else { continue }
        throw ModelError(
          .parameters,
          "the role of the input '\(input)' does not follow from its name; the inputs of a token model are ids, "
            + "mask, types and positions, and this one has \(Self.list(description.inputNames)); name it with --tokens-input ids=NAME"
        )
      }
      names[role] = input
    }
    guard let numbers = names[.numbers], let feature = description.inputDescriptionsByName[numbers],
      let array = feature.multiArrayConstraint
    else {
      throw ModelError(
        .parameters,
        "the model takes no tokens: none of its inputs (\(Self.list(description.inputNames))) is an array called input_ids or the like"
      )
    }
    self.names = names
    let constraint = array.shapeConstraint
    if constraint.type == .enumerated {
      lengths = Set(constraint.enumeratedShapes.compactMap(\.last)).sorted()
    } else {
      lengths = []
    }
    let range = constraint.sizeRangeForDimension.last ?? 1...1
    capacity = lengths.last ?? (range.upperBound == .max ? nil : range.upperBound)
  }

  /// A description of the inputs' roles and the length.
  var summary: String {
    let roles = TokenInput.allCases.compactMap { role in names[role].map { "\(role.rawValue) '\($0)'" } }
    return "\(roles.joined(separator: ", ")), \(capacity.map { "at most \($0) tokens" } ?? "any number of tokens")"
  }

  /// Returns the length that an encoding is padded to: the next allowed length, or a power of two or 1.5 times a power
  /// of two, so that few specializations are compiled. Without a mask input there is no padding.
  func length(for count: Int) -> Int {
    if let length = lengths.first(where: { $0 >= count }) { return length }
    guard names[.mask] != nil else { return count }
    var length = 8
    while length < count { length = length.nonzeroBitCount == 1 ? length * 3 / 2 : length / 3 * 4 }
    return min(length, capacity ?? length)
  }

  /// Returns the input features of an encoding.
  ///
  /// - Throws: `ModelError` with code `featureType` for more tokens than the model accepts.
  func features(_ encoding: TokenEncoding) throws(ModelError) -> DictionaryFeatureProvider {
    let length = length(for: encoding.count)
    guard length >= encoding.count, capacity.map({ encoding.count <= $0 }) ?? true else {
      throw ModelError(
        .featureType, "the text has \(encoding.count) tokens, and the model takes \(capacity ?? length)")
    }
    let rest = length - encoding.count
    let ones = [Int](repeating: 1, count: encoding.count)
    var values: [String: FeatureValue] = [:]
    for (role, name) in names {
      let numbers =
        switch role {
        case .numbers: encoding.numbers + [Int](repeating: padding, count: rest)
        case .mask: ones + [Int](repeating: 0, count: rest)
        case .types: encoding.types + [Int](repeating: 0, count: rest)
        case .positions: Array(0..<length)
        }
      values[name] = FeatureValue(multiArray: try array(numbers, name))
    }
    return DictionaryFeatureProvider(dictionary: values)
  }

  /// Returns the input features of several encodings.
  ///
  /// - Throws: as `features(_:)` does, for the first encoding that fails.
  func batch(_ encodings: [TokenEncoding]) throws(ModelError) -> ArrayBatchProvider {
    var features: [any FeatureProvider] = []
    for encoding in encodings { features.append(try self.features(encoding)) }
    return ArrayBatchProvider(array: features)
  }

  /// Returns an array of the input's rank whose dimensions are 1, except for the last.
  private func array(_ numbers: [Int], _ name: String) throws(ModelError) -> MultiArray {
    let constraint = model.modelDescription.inputDescriptionsByName[name]?.multiArrayConstraint
    let rank = constraint?.shape.count ?? 2
    let shape = [Int](repeating: 1, count: max(0, rank - 1)) + [numbers.count]
    return try MultiArray(numbers.map(Float.init), shape: shape)
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
