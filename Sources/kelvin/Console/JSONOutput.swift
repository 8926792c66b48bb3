import KelvinBasics

/// The one JSON document that a command prints under `--json`: keys sorted, seconds and bytes as plain numbers, numbers
/// that JSON cannot hold as text.
func jsonText(_ document: some Encodable) throws -> String {
  String(decoding: try JSONText.encode(document, unspeakable: .text), as: UTF8.self)
}

func printJSON(_ document: some Encodable) throws { Console.print(try jsonText(document)) }
