import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinText

/// The options for tokenizing strings and feeding them to a model.
struct TextModelOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The vocabulary of the model, one token per line: its vocab.txt (WordPiece).", valueName: "file"))
  var vocabulary: String

  @Flag(help: "Keep upper case and accents: for models that are called cased.")
  var cased = false

  @Option(
    help: ArgumentHelp(
      "The role of an input whose name does not show it: ids, mask, types or positions. Repeatable.",
      valueName: "what=name"),
    transform: { try NamedText($0, option: "tokens-input", form: "ids=NAME, mask=NAME, types=NAME or positions=NAME") })
  var tokensInput: [NamedText] = []

  func validate() throws {
    for input in tokensInput where TokenInput(rawValue: input.name) == nil {
      let known = TokenInput.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--tokens-input takes \(known), not '\(input.name)'")
    }
  }

  /// Creates the tokenizer.
  ///
  /// - Throws: `ModelError` for a file that is not a valid vocabulary.
  func tokenizer() throws -> WordPieceTokenizer {
    WordPieceTokenizer(try WordPieceVocabulary(contentsOf: URL(filePath: vocabulary)), lowercases: !cased)
  }

  /// Loads the model.
  ///
  /// - Throws: `ModelError` as loading does.
  func model(_ path: String, _ configuration: ModelConfiguration) throws -> Model {
    let file = try ReadModel(contentsOf: URL(filePath: path), allowsLinks: configuration.allowsLinks)
    return try Model.loadWithProgress(file, try configuration.withTokenLengths(of: file))
  }

  /// The given input names by their role.
  var inputs: [TokenInput: String] {
    var inputs: [TokenInput: String] = [:]
    for input in tokensInput { TokenInput(rawValue: input.name).map { inputs[$0] = input.text } }
    return inputs
  }

  /// Reads a text file, or standard input for `-`.
  ///
  /// - Throws: `ModelError`; `InputError` where the content is not UTF-8.
  static func read(_ path: String) throws -> String {
    let bytes = path == "-" ? try LocalFile.readStandardInput() : try LocalFile.read(path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw InputError("'\(path)' is not text: its bytes are not UTF-8")
    }
    return text
  }
}
