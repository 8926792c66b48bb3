import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The operators of onnxruntime-extensions with models of SentencePiece.
extension ONNXHostMapper {
  static let extensionSentencePieces: [ONNXHostMapper] = [
    extended("SentencepieceTokenizer", inputs: 6...7, outputs: 3) { (node, slots) throws(FormatError) in
      SentencePieceTokens(try node.sentencePieces(), slots)
    },
    extended("SentencepieceDecoder", inputs: 1...2, strings: [0]) { (node, slots) throws(FormatError) in
      SentencePieceText(try node.sentencePieces(), slots)
    },
  ]
}

extension ONNXHostNode {
  /// Reads the model in the attribute `model`, which may be in base64.
  fileprivate func sentencePieces() throws(FormatError) -> SentencePieces {
    guard let bytes = node.attributes["model"]?.bytes, bytes.count > 0 else { throw malformed("it has no model") }
    var decoded = bytes
    let isASCII = bytes.withUnsafeBytes { $0.allSatisfy { (0x2B...0x7A).contains($0) } }
    if isASCII, let data = Data(base64Encoded: bytes.withUnsafeBytes { Data($0) }) { decoded = Bytes(Array(data)) }
    var settings = SentencePieces.Settings()
    do throws(FormatError) { try settings.read(WireMessage(decoded, file: file), for: self) } catch {
      if error.place != nil { throw error }
      throw malformed("its model is not one of SentencePiece: \(error.reason)")
    }
    guard let model = SentencePieces(settings) else {
      throw malformed("its model has not exactly one unknown piece, or lacks the pieces of bytes that it falls back to")
    }
    return model
  }
}

extension SentencePieces.Settings {
  /// The greatest number of pieces.
  private static let limit = 1 << 22

  /// Reads a `ModelProto`. The numbers are those of the fields in sentencepiece_model.proto.
  fileprivate mutating func read(_ message: WireMessage, for node: ONNXHostNode) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case 1:
        try field.check(pieces.count, Self.limit)
        pieces.append(try SentencePieces.Piece(field.message(), of: node))
      case 2: try readTraining(field.message(), for: node)
      case 3: try readNormalization(field.message(), for: node)
      default: break
      }
    }
  }

  private mutating func readTraining(_ message: WireMessage, for node: ONNXHostNode) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case 3:
        guard let known = SentencePieces.Algorithm(rawValue: try field.integer()) else {
          throw node.unsupported(
            "its model splits words or characters", remedy: "use a model of unigrams or byte pairs")
        }
        algorithm = known
      case 24: spaceIsLast = try field.bool()
      case 35: fallsBackToBytes = try field.bool()
      case 44: unknownText = ExactString(try field.string())
      case 46: start = ExactString(try field.string())
      case 47: end = ExactString(try field.string())
      default: break
      }
    }
  }

  private mutating func readNormalization(_ message: WireMessage, for node: ONNXHostNode) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case 2:
        let bytes = try field.bytes()
        guard bytes.count > 0 else { continue }
        map = CharacterMap(bytes.withUnsafeBytes { Array($0) })
        guard map != nil else { throw node.malformed("its model has no valid map of characters") }
      case 3: addsSpace = try field.bool()
      case 4: removesSpaces = try field.bool()
      case 5: escapesSpaces = try field.bool()
      default: break
      }
    }
  }
}

extension SentencePieces.Piece {
  fileprivate init(_ message: WireMessage, of node: ONNXHostNode) throws(FormatError) {
    self.init()
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case 1: text = ExactString(try field.string())
      case 2: score = try field.float()
      case 3:
        guard let known = SentencePieces.Kind(rawValue: try field.integer()) else {
          throw node.malformed("piece '\(text)' of its model is of an unknown kind")
        }
        kind = known
      default: break
      }
    }
  }
}
