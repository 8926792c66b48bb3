/// The members of a JSON object that is being decoded: `try fields["name"]`, `try fields["inputs", or: []]`.
package struct JSONFields {
  private let container: KeyedDecodingContainer<JSONKey>

  package init(_ decoder: any Decoder) throws { container = try decoder.container(keyedBy: JSONKey.self) }

  package subscript<Value: Decodable>(key: String) -> Value {
    get throws { try container.decode(Value.self, forKey: JSONKey(key)) }
  }

  /// The value of a key, or a fallback if the key is absent or null.
  package subscript<Value: Decodable>(key: String, or fallback: Value) -> Value {
    get throws { try container.decode(JSONKey(key), or: fallback) }
  }
}
