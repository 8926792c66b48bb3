package import KelvinBasics

/// A model or array file cannot be read, or holds what Kelvin cannot run.
package struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The file, or one it refers to, cannot be opened or mapped.
    case unreadable
    /// A file that the model names is a link, and links are not followed.
    case link
    /// The bytes break the format's rules or contradict each other.
    case malformed
    /// The file is well formed, but of a kind, version or type that Kelvin does not run.
    case unsupported
    /// The model uses operations that Kelvin lacks; `missing` lists all of them.
    case missing
    /// The caller's shapes do not fit the model's inputs.
    case shapes
  }

  package let code: Code
  /// The file, as the caller or the model named it.
  package let file: String
  /// The node, feature or field, by the source's name.
  package let place: String?
  /// The byte in the file at which the trouble was found.
  package let offset: Int?
  /// What was expected and what was found.
  package let reason: String
  package let remedy: String?
  /// Every operation that the model needs and Kelvin lacks, by name.
  package let missing: [MissingOperation]

  package init(
    _ code: Code, file: String, place: String? = nil, offset: Int? = nil, _ reason: String, remedy: String? = nil,
    missing: [MissingOperation] = []
  ) {
    self.code = code
    self.file = file
    self.place = place
    self.offset = offset
    self.reason = reason
    self.remedy = remedy
    self.missing = missing
  }

  /// One error for everything a model needs that is not there.
  package static func missing(_ operations: [MissingOperation], file: String) -> FormatError {
    let listed = operations.map(\.description).joined(separator: "; ")
    let kinds = operations.count == 1 ? "an operation" : "\(operations.count) kinds of operation"
    // ONNX Runtime writes them for the processor that it runs on, with weights in that processor's order.
    let isLaidOut = operations.contains { $0.name.hasPrefix("com.microsoft.nchwc.") }
    return FormatError(
      .missing, file: file, "uses \(kinds) that Kelvin lacks: \(listed)",
      remedy: isLaidOut
        ? "take the model that ONNX Runtime optimized, or save it at the level 'extended', below its layouts for one"
          + " processor" : nil,
      missing: operations)
  }

  package init(_ error: FileError) {
    self.init(.unreadable, file: error.path, "cannot \(error.action) it: \(error.reason)")
  }

  package var description: String {
    let place = place.map { "\($0): " } ?? ""
    let offset = offset.map { ", byte \($0)" } ?? ""
    let remedy = remedy.map { "; \($0)" } ?? ""
    return "\(place)\(reason) (\(file)\(offset))\(remedy)"
  }
}

/// An operation that a model uses and Kelvin lacks.
package struct MissingOperation: Hashable, Sendable, CustomStringConvertible {
  /// The format's own name for it.
  package let name: String
  package let count: Int
  /// The first places where it is used, at most three, by the source's names.
  package let places: [String]

  package init(name: String, count: Int, places: [String]) {
    self.name = name
    self.count = count
    self.places = places
  }

  package var description: String {
    let shown = places.map { "'\($0)'" }.joined(separator: ", ")
    return "\(name) ×\(count) (\(shown)\(count > places.count ? ", …" : ""))"
  }
}

/// Collects missing operations in the order in which they are met.
package struct MissingOperations {
  private var names: [String] = []
  private var found: [String: (count: Int, places: [String])] = [:]

  package init() {}

  package var list: [MissingOperation] {
    names.compactMap { name in
      found[name].map { MissingOperation(name: name, count: $0.count, places: $0.places) }
    }
  }

  package mutating func add(_ name: String, at place: String) {
    if found[name] == nil { names.append(name) }
    found[name, default: (0, [])].count += 1
    if let places = found[name]?.places, places.count < 3 { found[name]?.places.append(place) }
  }
}
