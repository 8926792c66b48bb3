package import KelvinGraph

/// The kind of a model file, known by its contents.
package enum ModelFileKind: Hashable, Sendable {
  case onnx, coreML

  /// Returns the kind of a file, by the fields before any damage; nil if these do not tell it.
  ///
  /// Both formats are one protobuf message. An ONNX message has its graph in field 7 and no field number of three
  /// digits. A Core ML message has its version in field 1, its model in a field from 200 on and nothing in field 7.
  package init?(recognizing bytes: Bytes) {
    let (version, onnxGraph) = (1, 7)
    var found: ModelFileKind?
    var hasVersion = false
    var reader = WireMessage(bytes, file: "model").fields()
    while let field = try? reader.next() {
      if field.number == version { hasVersion = true }
      if field.number == onnxGraph { found = .onnx }
      if hasVersion, field.number >= 200 { found = found ?? .coreML }
    }
    guard let found else { return nil }
    self = found
  }
}
