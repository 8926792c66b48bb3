package import KelvinGraph

/// The kind of a model file, known by its contents.
package enum ModelFileKind: Hashable, Sendable {
  case onnx, coreML

  /// Returns the kind of a file; nil for a damaged file and for one that is no model.
  ///
  /// Both formats are one protobuf message. An ONNX message has its graph in field 7 and no field number of three
  /// digits. A Core ML message has its model in a field from 200 on and none in field 7.
  package init?(recognizing bytes: Bytes) {
    let onnxGraph = 7
    var found: ModelFileKind?
    var reader = WireMessage(bytes, file: "model").fields()
    do throws(FormatError) {
      while let field = try reader.next() {
        if field.number == onnxGraph { found = .onnx }
        if field.number >= 100 { found = found ?? .coreML }
      }
    } catch { return nil }
    guard let found else { return nil }
    self = found
  }
}
