import KelvinBasics
package import KelvinGraph

/// A family of model files.
package struct Format: Sendable {
  package let name: String
  /// Tells whether a path looks like one of them, by its name or its first bytes.
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
  /// In the order in which they are asked.
  package let formats: [Format]
  /// Reads a model whose bytes are in memory.
  package let readMemory: @Sendable (MemoryFiles) throws(FormatError) -> ModelProgram
  /// The operations that models of the family may consist of, by the format's own names, sorted.
  package let operations: @Sendable () -> [OperationSet: [String]]

  package init(
    formats: [Format], readMemory: @escaping @Sendable (MemoryFiles) throws(FormatError) -> ModelProgram,
    operations: @escaping @Sendable () -> [OperationSet: [String]]
  ) {
    self.formats = formats
    self.readMemory = readMemory
    self.operations = operations
  }

  /// Stands for a family whose trait of the package is off: every model of it is refused with the trait's name.
  package static func absent(
    trait: String, name: String, sniff: @escaping @Sendable (_ path: String) -> Bool
  ) -> FormatFamily {
    let refusal: @Sendable (String) -> FormatError = { file in
      FormatError(
        .unsupported, file: file, "this program was built without the trait '\(trait)' of the package Kelvin",
        remedy: "name the trait where the package is required")
    }
    return FormatFamily(
      formats: [
        Format(name: name, sniff: sniff) { (path, _) throws(FormatError) in throw refusal(path.lastPathPart) }
      ],
      readMemory: { (_) throws(FormatError) in throw refusal(MemoryFiles.modelPath.lastPathPart) },
      operations: { [:] })
  }
}

/// A set of operations with names of its own.
package enum OperationSet: Sendable {
  /// ONNX operators, with their domain where it is not the standard one.
  case onnx
  /// Operations of ML Programs, without the versions in which they are defined.
  case mlProgram
  /// Layers of neural networks.
  case neuralNetwork
  /// Kinds of Core ML models.
  case modelKinds
}
