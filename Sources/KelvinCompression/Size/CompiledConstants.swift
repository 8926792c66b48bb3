import KelvinBasics
import KelvinGraph
import KelvinImport

/// Reads the constants of an ML Program's text (`model.mil`) that are in weight files. The text has been read before,
/// so it is valid.
///
/// ```
/// tensor<fp16, [8, 3]> w = const()[val = tensor<fp16, [8, 3]>(BLOBFILE(path = …, offset = …))];
/// ```
struct CompiledConstants {
  private let tokens: [Substring]
  private let files: WeightFiles
  private let program: String
  private(set) var list = ShippedTensors()

  /// - Parameters:
  ///   - text: The program.
  ///   - files: The files of the model's folder.
  ///   - program: The name of the program's file.
  init(_ text: Bytes, _ files: WeightFiles, program: String) throws(FormatError) {
    (self.files, self.program) = (files, program)
    tokens = Self.tokens(text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    var constants = ConstantTensors()
    for place in tokens.indices {
      if tokens[place] == "func" {
        constants.finish(&list, program: ExactString(program), least: .max)
        constants = ConstantTensors()
      }
      guard tokens[place] == "=", place >= 2, place + 2 < tokens.count, tokens[place + 2] == "(" else { continue }
      let kind = tokens[place + 1]
      guard kind == "const" || kind.hasPrefix("constexpr_") else { continue }
      var operands = try operands(from: place + 3)
      let next = end(from: place + 3)
      if next + 1 < tokens.count, tokens[next + 1] == "[" { operands += try self.operands(from: next + 2) }
      constants.add(ProgramOperation(kind: String(kind), outputs: outputs(before: place), operands: operands))
    }
    constants.finish(&list, program: ExactString(program), least: .max)
  }

  /// Returns names, numbers, strings with their quotation marks, and single punctuation marks.
  private static func tokens(_ text: String) -> [Substring] {
    var tokens: [Substring] = []
    let bytes = text.utf8
    var place = bytes.startIndex
    func isWord(_ byte: UInt8) -> Bool {
      isalnum(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte >= 0x80
    }
    while place < bytes.endIndex {
      let start = place
      let byte = bytes[place]
      place = bytes.index(after: place)
      if byte == UInt8(ascii: "\"") {
        while place < bytes.endIndex, bytes[place] != UInt8(ascii: "\"") {
          let isEscape = bytes[place] == UInt8(ascii: "\\")
          place = bytes.index(after: place)
          if isEscape, place < bytes.endIndex { place = bytes.index(after: place) }
        }
        if place < bytes.endIndex { place = bytes.index(after: place) }
      } else if isWord(byte) {
        while place < bytes.endIndex, isWord(bytes[place]) { place = bytes.index(after: place) }
      } else if byte == UInt8(ascii: "/"), place < bytes.endIndex, bytes[place] == byte {
        while place < bytes.endIndex, bytes[place] != UInt8(ascii: "\n") { place = bytes.index(after: place) }
        continue
      } else if byte <= UInt8(ascii: " ") {
        continue
      }
      tokens.append(text[start..<place])
    }
    return tokens
  }

  private static func isalnum(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  /// Returns the position of the bracket that closes one, from the position behind it.
  private func end(from start: Int) -> Int {
    var depth = 1
    for place in start..<tokens.count {
      switch tokens[place] {
      case "(", "[", "{": depth += 1
      case ")", "]", "}":
        depth -= 1
        if depth == 0 { return place }
      default: break
      }
    }
    return tokens.count
  }

  /// Returns the outputs of the operation with the equality sign at a position.
  private func outputs(before place: Int) -> [(name: String, shape: [Int])] {
    guard tokens[place - 1] == ")" else { return [(String(tokens[place - 1]), shape(before: place - 1))] }
    var (outputs, depth, start): ([(name: String, shape: [Int])], Int, Int) = ([], 0, place - 1)
    repeat {
      if tokens[start] == ")" { depth += 1 }
      if tokens[start] == "(" { depth -= 1 }
      start -= 1
    } while depth > 0 && start >= 0
    for position in max(2, start + 1)..<place
    where [",", ")"].contains(tokens[position]) && tokens[position - 2] == ">" {
      outputs.append((String(tokens[position - 1]), shape(before: position - 1)))
    }
    return outputs
  }

  /// Returns the sizes of the type that ends before a position.
  private func shape(before place: Int) -> [Int] {
    guard place >= 2, tokens[place - 1] == ">", tokens[place - 2] == "]",
      let start = tokens[..<(place - 2)].lastIndex(of: "[")
    else { return [] }
    return tokens[(start + 1)..<(place - 2)].compactMap { Int($0) }
  }

  /// Returns the named operands up to the closing bracket.
  private func operands(
    from start: Int
  ) throws(FormatError) -> [(key: String, value: ProgramOperation.Operand)] {
    var operands: [(key: String, value: ProgramOperation.Operand)] = []
    let end = end(from: start)
    var place = start
    while place + 2 < end, tokens[place + 1] == "=" {
      let key = String(tokens[place])
      place += 2
      let value = place
      while place < end, tokens[place] != "," {
        // The type has a comma in angle brackets, and the value one in other brackets.
        switch tokens[place] {
        case "<": while place < end, tokens[place] != ">" { place += 1 }
        case "(", "[", "{": place = self.end(from: place + 1)
        default: break
        }
        place += 1
      }
      if place == value + 1 {
        operands.append((key, .name(ExactString(String(tokens[value])))))
      } else if let constant = try constant(in: value..<min(place, end)) {
        operands.append((key, .constant(constant)))
      }
      place += 1
    }
    return operands
  }

  /// Returns the constant of a typed value in a weight file; nil for other values.
  private func constant(in range: Range<Int>) throws(FormatError) -> ProgramOperation.Constant? {
    guard let blob = tokens[range].firstIndex(of: "BLOBFILE"), tokens[range.lowerBound] == "tensor",
      range.lowerBound + 2 < blob
    else { return nil }
    let inside = tokens[blob..<range.upperBound]
    guard let path = inside.first(where: { $0.hasPrefix("\"") }),
      let offset = inside.lastIndex(where: { Int($0) != nil }).flatMap({ Int(tokens[$0]) })
    else { return nil }
    let found = try files.record(in: String(path.dropFirst().dropLast()), at: offset, model: program)
    let type = String(tokens[range.lowerBound + 2])
    return ProgramOperation.Constant(
      type: Self.elementTypes[type] ?? type, shape: shape(before: blob - 1),
      part: .init(
        file: ExactString(found.file), offset: found.position, byteCount: found.record.elements.count))
  }

  /// The names of element types that differ from Kelvin's.
  private static let elementTypes = [
    "fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16", "fp8e4m3fn": "float8e4m3fn",
    "fp8e5m2": "float8e5m2",
  ]
}
