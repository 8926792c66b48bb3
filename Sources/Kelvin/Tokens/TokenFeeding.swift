import KelvinBasics
import KelvinFeatures
package import KelvinGraph

/// The roles of a decoder's inputs and outputs, from given roles and from their names.
package struct TokenFeeding: Sendable {
  struct Input: Sendable {
    let name: String
    let role: TokenRole
    let scalar: ScalarType
    let dimensions: [Dimension]
  }

  /// An output of one step that is an input of the next.
  struct Cache: Sendable {
    let past: String
    let present: String
    let scalar: ScalarType
    /// The shape in the first step; 0 along the growing axis.
    let shape: Shape
    /// The axis that grows with each token; nil if the cache has a fixed size.
    let growingAxis: Int?

    func type(holding count: Int) -> TensorType {
      var shape = shape
      if let growingAxis { shape[growingAxis] = count }
      return TensorType(scalar, shape)
    }
  }

  let inputs: [Input]
  let caches: [Cache]
  /// The name of the output with the scores.
  let scores: String
  /// The numbers of tokens that a step may read, ascending; empty if all up to `largestStep` are allowed.
  private let allowedSteps: [Int]
  private let largestStep: Int

  /// - Parameters:
  ///   - states: the names of the model's states.
  ///   - roles: roles by the name of an input or output, which override the roles that names suggest.
  /// - Throws: `parameters` that names an input or output without a role, or a missing role, and the remedy.
  package init(_ function: Function, states: some Collection<String>, roles: [String: TokenRole]) throws(ModelError) {
    let known = Set(function.inputs.map(\.name)).union(function.outputs.map(\.name))
    if let stranger = roles.keys.sorted().first(where: { !known.contains($0) }) {
      throw Self.refuse("it has no input or output '\(stranger)'")
    }
    var inputs: [Input] = []
    var rest: [Feature] = []
    for feature in function.inputs {
      guard case .tensor(let scalar, let dimensions) = feature.type else {
        if case .state = feature.type { continue }
        if feature.isOptional || feature.defaultValue != nil { continue }
        throw Self.refuse(
          "input '\(feature.name)' is \(FeatureDescription(feature).type.rawValue); expected an array"
        )
      }
      var role = roles[feature.name]
      if role == nil, !scalar.isFloatingPoint { role = TokenRole(integer: feature.name) }
      if role == nil, feature.name.lowercased().contains("mask") { role = .mask }
      switch role {
      case .past, nil: rest.append(feature)
      case .scores: throw Self.refuse("input '\(feature.name)' cannot have the role 'scores', which only outputs have")
      case let role?: inputs.append(Input(name: feature.name, role: role, scalar: scalar, dimensions: dimensions))
      }
    }
    let pairs = Self.pairs(rest, function.outputs, roles)
    var caches: [Cache] = []
    for feature in rest {
      if let present = pairs[feature.name] {
        caches.append(try Self.cache(feature, present))
      } else if !inputs.contains(where: { $0.role == .tokens }),
        case .tensor(let scalar, let dimensions) = feature.type,
        !scalar.isFloatingPoint
      {
        inputs.append(Input(name: feature.name, role: .tokens, scalar: scalar, dimensions: dimensions))
      } else if !feature.isOptional, feature.defaultValue == nil {
        throw Self.refuse("the role of input '\(feature.name)' is not known")
      }
    }
    let tokens = inputs.filter { $0.role == .tokens }
    guard tokens.count == 1, let read = tokens.first, !read.scalar.isFloatingPoint, !read.dimensions.isEmpty else {
      let names = tokens.map { "'\($0.name)'" }
      throw Self.refuse(
        names.isEmpty ? "no input takes tokens" : "\(names.inWords) take tokens, expected one integer input for them")
    }
    guard !caches.isEmpty || !states.isEmpty else {
      throw Self.refuse(
        "it keeps nothing between predictions: it has no state, and no output that is an input of the next one"
      )
    }
    let fed = Set(caches.map(\.present))
    let free = function.outputs.filter { !fed.contains($0.name) }
    let named = free.filter { roles[$0.name] == .scores }
    let told = named.isEmpty ? free.filter { $0.name.lowercased().contains("logit") } : named
    guard let scores = told.count == 1 ? told.first : free.count == 1 ? free.first : nil else {
      throw Self.refuse(
        "several outputs may have the scores: \(free.map { "'\($0.name)'" }.inWords)")
    }
    self.inputs = inputs
    self.caches = caches
    self.scores = scores.name
    allowedSteps = (function.inputs.first { $0.name == read.name }?.allowedShapes ?? [])
      .compactMap(\.dimensions.last).sorted()
    largestStep = inputs.reduce(.max) { most, input in
      switch input.role {
      case .tokens, .positions: min(most, input.dimensions.last?.largest ?? 1)
      default: most
      }
    }
    if case .fixed(let count) = read.dimensions[read.dimensions.count - 1], count > 1 {
      throw Self.refuse(
        "'\(read.name)' takes exactly \(count) tokens at a time, but tokens are generated one at a time")
    }
  }

  /// Returns how many of `count` tokens the next step reads: the most that is allowed, at least one.
  func step(of count: Int) -> Int { max(1, allowedSteps.last { $0 <= count } ?? min(count, largestStep)) }

  /// The maximum number of tokens, if the input sizes limit it; nil if they do not.
  package var capacity: Int? {
    let masks = inputs.compactMap { input in input.role == .mask ? input.dimensions.last?.largest : nil }
    let rooms = caches.compactMap { $0.growingAxis == nil && $0.shape.rank == 4 ? $0.shape[2] : nil }
    return (masks + rooms).min().flatMap { $0 < .max ? $0 : nil }
  }

  /// Whether the inputs allow masked padding before the tokens.
  var mayTakePadding: Bool {
    let isMasked = inputs.contains { input in
      guard input.role == .mask, !input.scalar.isFloatingPoint, input.dimensions.count <= 2,
        case .flexible? = input.dimensions.last
      else { return false }
      return true
    }
    let counts = inputs.contains { [.pastLength, .totalLength, .lastPosition].contains($0.role) }
    return isMasked && !counts && !caches.isEmpty && caches.allSatisfy { $0.growingAxis != nil }
  }

  /// The axis along which each cache input and mask grows by one row per token, by input name; nil without caches, or
  /// if a cache has a fixed size.
  var growing: [String: Int]? {
    guard !caches.isEmpty, caches.allSatisfy({ $0.growingAxis != nil }) else { return nil }
    var axes: [String: Int] = [:]
    for cache in caches { axes[cache.past] = cache.growingAxis }
    for input in inputs where input.role == .mask {
      if case .flexible? = input.dimensions.last { axes[input.name] = input.dimensions.count - 1 }
    }
    return axes
  }

  private static func refuse(_ reason: String) -> ModelError {
    ModelError(
      .parameters,
      "the model cannot generate tokens: \(reason). Assign roles to unclear names: NAME=\(TokenRole.spellings)"
        + " (--token-role, TokenSequence's roles)")
  }

  /// Maps each input to the output that provides its next value. Given roles come first, then names that differ only in
  /// words for before and after, then the order if equally many are left of each.
  private static func pairs(
    _ inputs: [Feature], _ outputs: [Feature], _ roles: [String: TokenRole]
  ) -> [String: String] {
    var pairs: [String: String] = [:]
    for case (let name, .past(let present)) in roles { pairs[name] = present }
    let sides: Set<String> = ["past", "present", "in", "out", "input", "output", "old", "new", "updated"]
    func key(_ feature: Feature) -> [String] {
      var words = feature.name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
      words.removeAll { sides.contains($0) }
      // `past_key_values.0.key` corresponds to `present.0.key` of the previous step.
      if words.count > 2, words[0] == "key", words[1].hasPrefix("value") { words.removeFirst(2) }
      return words
    }
    var free = outputs.filter { !pairs.values.contains($0.name) && roles[$0.name] != .scores }
    for input in inputs where pairs[input.name] == nil {
      guard let found = free.firstIndex(where: { key($0) == key(input) && $0.resembles(input) }) else { continue }
      pairs[input.name] = free.remove(at: found).name
    }
    let left = inputs.filter { pairs[$0.name] == nil }
    let fitting = free.filter { output in left.contains { output.resembles($0) } }
    guard left.count == fitting.count, zip(left, fitting).allSatisfy({ $1.resembles($0) }) else { return pairs }
    for (input, output) in zip(left, fitting) { pairs[input.name] = output.name }
    return pairs
  }

  private static func cache(_ feature: Feature, _ present: String) throws(ModelError) -> Cache {
    guard case .tensor(let scalar, let dimensions) = feature.type else {
      throw refuse("input '\(feature.name)' is not an array")
    }
    let sizes = dimensions.enumerated().map { axis, dimension -> Int in
      switch dimension {
      case .fixed(let size): size
      case .flexible: axis == 0 ? 1 : 0
      }
    }
    let growing = sizes.indices.filter { axis in
      if axis > 0, case .flexible = dimensions[axis] { true } else { false }
    }
    guard growing.count <= 1 else {
      throw refuse(
        "input '\(feature.name)' grows along one axis, but \(growing.count) of \(dimensions) have no size; export it with"
          + " the sizes of the others")
    }
    if let axis = growing.first, case .flexible(_, let range, _) = dimensions[axis], range.lowerBound > 0 {
      throw refuse("input '\(feature.name)' is empty at the start, which \(dimensions[axis]) does not allow")
    }
    return Cache(
      past: feature.name, present: present, scalar: scalar, shape: Shape(sizes), growingAxis: growing.first)
  }
}

extension Feature {
  /// Whether a tensor has the same type and number of axes, with equal sizes if both are fixed.
  fileprivate func resembles(_ other: Feature) -> Bool {
    guard case .tensor(let scalar, let dimensions) = type, case .tensor(let given, let sizes) = other.type,
      scalar == given, dimensions.count == sizes.count
    else { return false }
    return zip(dimensions, sizes).allSatisfy { own, other in
      if case .fixed(let first) = own, case .fixed(let second) = other { first == second } else { true }
    }
  }
}

extension Dimension {
  var largest: Int {
    switch self {
    case .fixed(let size): size
    case .flexible(_, let range, _): range.upperBound
    }
  }
}
