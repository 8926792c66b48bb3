package import KelvinBasics

/// An error in reading a model or array file, or in using a model that Kelvin does not support.
package struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The file, or one it refers to, cannot be opened or mapped.
    case unreadable
    /// A file that the model names is a link, and links are not followed.
    case link
    /// The bytes violate the format's rules or contradict each other.
    case malformed
    /// The file is well formed, but of an unsupported kind, version or type.
    case unsupported
    /// The model uses unsupported operations; `missing` lists all of them.
    case missing
    /// The caller's shapes do not fit the model's inputs.
    case shapes
  }

  package let code: Code
  /// The file, as the caller or the model named it.
  package let file: String
  /// The node, feature or field, by the source's name.
  package let place: String?
  /// The offset in bytes at which the error was found.
  package let offset: Int?
  /// The expected and the actual contents.
  package let reason: String
  package let remedy: String?
  /// All unsupported operations of the model, by name.
  package let missing: [MissingOperation]
  /// The system's error, if that is the reason.
  package private(set) var cause: FileError?

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

  /// Returns one error for all unsupported operations of a model.
  package static func missing(_ operations: [MissingOperation], file: String) -> FormatError {
    let listed = operations.map(\.description).joined(separator: "; ")
    let kinds = operations.count == 1 ? "an operation" : "\(operations.count) kinds of operation"
    // ONNX Runtime writes these operators for the CPU that it runs on, with weights in a CPU-specific layout.
    let isLaidOut = operations.contains { $0.name.hasPrefix("com.microsoft.nchwc.") }
    return FormatError(
      .missing, file: file, "uses \(kinds) that Kelvin lacks: \(listed)",
      remedy: isLaidOut
        ? "use the model before ONNX Runtime's optimization, or optimize it at the level 'extended', without layouts for"
          + " one processor" : nil,
      missing: operations)
  }

  package init(_ error: FileError) {
    self.init(.unreadable, file: error.path, "cannot \(error.action) it: \(error.reason)")
    cause = error
  }

  package var description: String {
    let place = place.map { "\($0): " } ?? ""
    let offset = offset.map { ", byte \($0)" } ?? ""
    let remedy = remedy.map { "; \($0)" } ?? ""
    return "\(place)\(reason) (\(file)\(offset))\(remedy)"
  }
}

/// An unsupported operation that a model uses.
package struct MissingOperation: Hashable, Sendable, CustomStringConvertible {
  /// The format's own name of the operation.
  package let name: String
  package let count: Int
  /// The first places where the operation is used, at most three, by the source's names.
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

/// Collects unsupported operations in the order of their first use.
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
