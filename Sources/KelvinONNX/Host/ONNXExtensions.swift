import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The operators of onnxruntime-extensions.
extension ONNXHostMapper {
  static let extensions: [ONNXHostMapper] =
    extensionStrings + extensionArrays + extensionTokenizers + extensionBytePairs + extensionSentencePieces

  /// The operators that are refused by design.
  static let refusedExtensions: [ONNXHostMapper] = [
    refused(
      "BlingFireSentenceBreaker", "it splits sentences by a compiled BlingFire model",
      remedy: "split the text before, and give its sentences"),
    refused(
      "ImageReader", "it reads files by name, which models may not do",
      remedy: "use DecodeImage, and give the bytes of the file"),
  ]

  private static func refused(_ kind: String, _ reason: String, remedy: String) -> ONNXHostMapper {
    ONNXHostMapper("ai.onnx.contrib.\(kind)") { (node) throws(FormatError) in
      throw node.unsupported(reason, remedy: remedy)
    }
  }

  /// Returns a mapper to one host operation.
  ///
  /// - Parameters:
  ///   - inputs: The numbers of inputs that the operator takes.
  ///   - outputs: The number of outputs; those that a node omits get names of their own.
  ///   - strings: The outputs that hold strings.
  static func extended(
    _ kind: String, inputs: ClosedRange<Int> = 1...1, outputs: Int = 1, strings: Set<Int> = [],
    _ step: @escaping @Sendable (ONNXHostNode, HostSlots) throws(FormatError) -> some HostOperation
  ) -> ONNXHostMapper {
    ONNXHostMapper("ai.onnx.contrib.\(kind)") { (node) throws(FormatError) in
      let slots = try node.slots(inputs: inputs, outputs: outputs)
      let hostValues = slots.outputs.enumerated().filter { strings.contains($0.offset) }.map(\.element)
      return [Output(step: try step(node, slots), hostValues: hostValues)]
    }
  }
}

extension ONNXHostNode {
  fileprivate func slots(inputs: ClosedRange<Int>, outputs: Int) throws(FormatError) -> HostSlots {
    var given = node.inputs
    while given.last == "" { given.removeLast() }
    guard inputs.contains(given.count) else {
      let expected = inputs.count == 1 ? "\(inputs.lowerBound)" : "\(inputs.lowerBound) to \(inputs.upperBound)"
      throw malformed("it has \(given.count) inputs, expected \(expected)")
    }
    if let omitted = given.firstIndex(of: "") { throw malformed("input \(omitted) is missing") }
    guard node.outputs.count <= outputs else {
      throw malformed("it has \(node.outputs.count) outputs, expected at most \(outputs)")
    }
    let first = node.outputs.first { !$0.isEmpty } ?? node.name
    let names = (0..<outputs).map { index in
      hasOutput(index) ? node.outputs[index] : "\(first)\(mark)unused\(index)"
    }
    return HostSlots(inputs: given, outputs: names)
  }

  /// Whether the node names an output.
  func hasOutput(_ index: Int) -> Bool { node.outputs.indices.contains(index) && !node.outputs[index].isEmpty }

  /// Returns a string attribute that must be present and not empty.
  func required(_ name: String) throws(FormatError) -> String {
    guard let text = node.attributes[name]?.text, !text.isEmpty else { throw malformed("it has no \(name)") }
    return text
  }

  /// Returns the lines of an attribute, split at tabs, each with two fields.
  func pairs(_ name: String) throws(FormatError) -> [(key: String, value: String)] {
    var pairs: [(String, String)] = []
    for line in text(name, default: "").utf8.split(separator: 0x0A) {
      let fields = line.split(separator: 0x09).map { String(Substring($0)) }
      guard fields.count == 2 else {
        throw malformed("a line of its \(name) has \(fields.count) fields between tabs, expected 2")
      }
      pairs.append((fields[0], fields[1]))
    }
    return pairs
  }

  /// Returns integers that are separated by spaces.
  func numbers(_ text: String, of name: String) throws(FormatError) -> [Int64] {
    var numbers: [Int64] = []
    for digits in text.utf8.split(separator: 0x20) {
      guard let number = Int64(String(Substring(digits))) else {
        throw malformed("its \(name) has '\(String(Substring(digits)).prefix(16))', expected an integer")
      }
      numbers.append(number)
    }
    return numbers
  }
}
