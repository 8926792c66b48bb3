import FoundationEssentials
import Glibc
import KelvinBasics

/// The one JSON document that a command prints under `--json`: keys sorted, seconds and bytes as plain numbers, numbers
/// that JSON cannot hold as text.
func jsonText(_ document: some Encodable) throws -> String {
  String(decoding: try JSONText.encode(document, unspeakable: .text), as: UTF8.self)
}

func printJSON(_ document: some Encodable) throws { printJSON(Data(try jsonText(document).utf8)) }

/// A document that is text of JSON already, whose own escapes are left as they are.
func printJSON(_ document: Data) {
  Console.write(String(decoding: document, as: UTF8.self) + "\n", to: STDOUT_FILENO)
}

/// A document on a line of its own, as it is there.
func printJSONLine(_ document: some Encodable) throws {
  Console.write(
    Array(try JSONText.encode(document, unspeakable: .text, layout: .line)) + [0x0A], to: STDOUT_FILENO)
}
