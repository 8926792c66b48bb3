public import FoundationEssentials
public import Kelvin
import KelvinBasics

/// Writes a Swift class for a model, with a property for each input and output.
///
/// The class loads the model and predicts with it. A program then uses the names and the types of the model's features,
/// and the compiler checks them.
///
/// ```swift
/// let url = URL(filePath: "Digits.mlpackage")
/// let generator = ModelClassGenerator(className: "Digits")
/// print(try generator.source(for: try await ModelAsset(url: url).modelDescription, modelName: "Digits.mlpackage"))
/// ```
public struct ModelClassGenerator: Hashable, Sendable {
  /// The access level of the generated declarations.
  public enum Access: String, Hashable, Sendable, CaseIterable {
    /// Other modules can use the class.
    case `public`
    /// The module that contains the class can use it.
    case `internal`
    /// The modules of the package can use the class.
    case package
  }

  /// The interface that the generated class is written for.
  public enum Dialect: String, Hashable, Sendable, CaseIterable {
    /// A structure for the module `Kelvin`, with shaped arrays and typed errors.
    case kelvin
    /// The classes that Xcode writes, for the module `CoreML`.
    case coreml
  }

  /// The name of the class.
  ///
  /// Characters that a Swift name cannot contain become `_`, here and in the names of features.
  public var className: String
  /// The interface that the class is written for.
  public var dialect = Dialect.kelvin
  /// The access level of the class and its members.
  public var access = Access.internal
  /// The model's path in the sources of its target, such as `Models/Digits.mlpackage`; nil if the model is not a resource.
  ///
  /// The class finds the model in `Bundle.module`, under the path or one of its ends. If it is nil, a class of the dialect
  /// ``Dialect/kelvin`` does not find the model, and one of ``Dialect/coreml`` searches the folder of the program.
  public var resourcePath: String?
  /// Names of members for features whose own names are unsuitable, by the name of the feature.
  public var memberNames: [String: String] = [:]

  /// Creates a generator for a class of this name.
  public init(className: String) { self.className = className }

  /// Returns the source code of the class.
  ///
  /// Equal descriptions give equal source code. Strings from the model cannot end a comment or a literal of it.
  ///
  /// - Parameters:
  ///   - description: the features and the metadata of the model.
  ///   - modelName: the name of the model's file.
  /// - Throws: `ModelError` with code `parameters` if two features have one name in Swift, if a name of ``memberNames``
  ///   is not the name of a feature or its replacement is not a Swift name, or if the class would hide a type that the
  ///   source code uses.
  public func source(for description: ModelDescription, modelName: String) throws(ModelError) -> String {
    let names = try ClassNames(self)
    try check(description)
    switch dialect {
    case .kelvin: return try KelvinDialect(self, names, description, modelName).source()
    case .coreml: return try CoreMLDialect(self, names, description, modelName).source()
    }
  }

  /// Writes the source code of the class to a file, which is replaced as a whole. A file with the same contents is not
  /// touched, so that a build does not compile it again.
  ///
  /// - Parameters:
  ///   - description: the features and the metadata of the model.
  ///   - modelName: the name of the model's file.
  ///   - url: the file.
  /// - Returns: whether the file was written.
  /// - Throws: `ModelError` as ``source(for:modelName:)`` does; `io` if the file cannot be written.
  @discardableResult
  public func write(
    _ description: ModelDescription, modelName: String, to url: URL
  ) throws(ModelError) -> Bool {
    let source = Data(try source(for: description, modelName: modelName).utf8)
    if let present = try? LocalFile.read(url.path), present == source { return false }
    try LocalFile.write(source, to: url.path)
    return true
  }

  /// Checks that the chosen names of members belong to features, and are Swift names.
  private func check(_ description: ModelDescription) throws(ModelError) {
    let features = (description.inputNames + description.outputNames).exact
    for (feature, name) in memberNames.sorted(by: { $0.key < $1.key }) {
      guard features.contains(ExactString(feature)) || features.contains(where: { $0.escaped == feature }) else {
        throw ModelError(
          .parameters,
          "the model has no input or output '\(feature)' to rename; it has \(features.map { "'\($0)'" }.inWords)")
      }
      guard SwiftName(name).text == name else {
        throw ModelError(
          .parameters,
          "'\(name)' for '\(feature)' is not a Swift name; use letters, digits and _, such as '\(SwiftName(name).text)'"
        )
      }
    }
  }
}
