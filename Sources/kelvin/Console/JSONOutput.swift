import FoundationEssentials

/// The one JSON document that a command prints under `--json`: keys sorted, seconds and bytes as plain numbers, numbers
/// that JSON cannot hold as text.
func jsonText(_ document: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
  encoder.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  return String(decoding: try encoder.encode(document), as: UTF8.self)
}

func printJSON(_ document: some Encodable) throws { Console.print(try jsonText(document)) }
