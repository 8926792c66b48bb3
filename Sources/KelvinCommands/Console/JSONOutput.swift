import FoundationEssentials
import Glibc
import KelvinBasics

/// Returns the JSON document that a command prints with `--json`: keys are sorted, seconds and bytes are plain numbers,
/// and numbers that JSON cannot represent are strings.
func jsonText(_ document: some Encodable) throws -> String {
  String(decoding: try JSONText.encode(document, unspeakable: .text), as: UTF8.self)
}

func printJSON(_ document: some Encodable) throws { printJSON(Data(try jsonText(document).utf8)) }

/// Prints an encoded JSON document unchanged.
func printJSON(_ document: Data) {
  Console.write(String(decoding: document, as: UTF8.self) + "\n", to: STDOUT_FILENO)
}

/// Prints a document as one line.
func printJSONLine(_ document: some Encodable) throws {
  Console.write(
    Array(try JSONText.encode(document, unspeakable: .text, layout: .line)) + [0x0A], to: STDOUT_FILENO)
}
