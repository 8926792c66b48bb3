import Kelvin
import KelvinBasics

/// The names of the generated types.
struct ClassNames {
  let base: SwiftName
  /// The names of the types of inputs and outputs, in the dialect `coreml`.
  var input: String { base.text + "Input" }
  var output: String { base.text + "Output" }

  /// - Throws: `ModelError` with code `parameters` for the name of a type that the source code uses.
  init(_ generator: ModelClassGenerator) throws(ModelError) {
    base = SwiftName(generator.className)
    let used: Set<String> =
      switch generator.dialect {
      case .kelvin: KelvinDialect.usedTypes
      case .coreml: CoreMLDialect.usedTypes
      }
    if used.contains(base.text) {
      throw ModelError(
        .parameters,
        "the class cannot have the name '\(base.text)', because its source code uses another type of this name; "
          + "choose a name with --class, or rename the file")
    }
  }
}

/// The members of a generated type, each with the feature that it was made for.
struct MemberNames {
  /// The owners of the names so far.
  private var owners: [String: String] = [:]

  /// Adds a member.
  ///
  /// - Parameters:
  ///   - name: the base name of the member.
  ///   - owner: the feature in words, such as `input 'x'`.
  /// - Throws: `ModelError` with code `parameters` if the type has a member of this name.
  mutating func add(_ name: String, for owner: String) throws(ModelError) {
    guard let other = owners.updateValue(owner, forKey: name) else { return }
    throw ModelError(
      .parameters,
      "\(other) and \(owner) both become '\(name)' in Swift; give one of them another name with --rename 'NAME=OTHER'")
  }

  /// Returns a name that no member has.
  func unused(_ name: String) -> String { owners[name] == nil ? name : unused(name + "_") }
}

/// An input or output, with its name in Swift.
struct NamedFeature {
  let description: FeatureDescription
  /// The name of the property.
  let name: SwiftName
  /// The literal of the feature's own name.
  let key: String
  /// The feature in words, such as `input 'x'`.
  let owner: String

  /// Returns features in the model's order.
  static func all(
    _ names: [String], _ descriptions: [String: FeatureDescription], _ kind: String, reserved: Set<String>,
    _ generator: ModelClassGenerator
  ) -> [NamedFeature] {
    names.compactMap { name in
      guard let description = descriptions[name] else { return nil }
      let chosen = generator.memberNames[exact: name]
      return NamedFeature(
        description: description, name: SwiftName(chosen ?? name, reserved: reserved), key: name.swiftLiteral,
        owner: "\(kind) '\(ExactString(name).escaped)'")
    }
  }
}
