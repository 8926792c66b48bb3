import KelvinBasics
package import KelvinGraph

/// A family of model files.
package struct Format: Sendable {
  package let name: String
  /// Tells whether a path belongs to the format, by its name or by the names in a folder.
  package let sniff: @Sendable (_ path: String) -> Bool
  package let read: @Sendable (_ path: String, _ allowsLinks: Bool) throws(FormatError) -> ModelProgram

  package init(
    name: String, sniff: @escaping @Sendable (_ path: String) -> Bool,
    read: @escaping @Sendable (_ path: String, _ allowsLinks: Bool) throws(FormatError) -> ModelProgram
  ) {
    self.name = name
    self.sniff = sniff
    self.read = read
  }
}

/// The formats that one module reads.
package struct FormatFamily: Sendable {
  /// The formats, in the order in which they are tried.
  package let formats: [Format]
  /// The format of its single files, which is recognized by their contents too.
  package let file: Format
  /// Reads a model whose bytes are in memory.
  package let readMemory: @Sendable (MemoryFiles) throws(FormatError) -> ModelProgram
  /// The supported operations of the family's models, by the format's own names, sorted.
  package let operations: @Sendable () -> [OperationSet: [String]]

  package init(
    formats: [Format], file: Format, readMemory: @escaping @Sendable (MemoryFiles) throws(FormatError) -> ModelProgram,
    operations: @escaping @Sendable () -> [OperationSet: [String]]
  ) {
    self.formats = formats
    self.file = file
    self.readMemory = readMemory
    self.operations = operations
  }

  /// Returns a placeholder for a family whose package trait is disabled. It refuses every model with an error that
  /// names the trait.
  package static func absent(
    trait: String, name: String, sniff: @escaping @Sendable (_ path: String) -> Bool
  ) -> FormatFamily {
    let refusal: @Sendable (String) -> FormatError = { file in
      FormatError(
        .unsupported, file: file, "this program was built without the trait '\(trait)' of the package Kelvin",
        remedy: "enable the trait where the package is required")
    }
    let format = Format(name: name, sniff: sniff) { (path, _) throws(FormatError) in throw refusal(path.lastPathPart) }
    return FormatFamily(
      formats: [format],
      file: format,
      readMemory: { (_) throws(FormatError) in throw refusal(MemoryFiles.modelPath.lastPathPart) },
      operations: { [:] })
  }
}

/// A set of operations with its own names.
package enum OperationSet: Sendable {
  /// ONNX operators, with their domain unless it is the standard one.
  case onnx
  /// Operations of ML Programs, without the versions of their operator sets.
  case mlProgram
  /// Layers of neural networks.
  case neuralNetwork
  /// Types of Core ML models.
  case modelKinds
}
