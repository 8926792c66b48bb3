import FoundationEssentials

/// A JSON document with access by key and position.
enum JSONValue: Decodable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? single.decode(Double.self) {
      self = .number(value)
    } else if let value = try? single.decode(String.self) {
      self = .text(value)
    } else if let value = try? single.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try single.decode([String: JSONValue].self))
    }
  }

  init(_ document: String) throws { self = try JSONDecoder().decode(JSONValue.self, from: Data(document.utf8)) }

  subscript(key: String) -> JSONValue? { if case .object(let entries) = self { entries[key] } else { nil } }
  subscript(index: Int) -> JSONValue? {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
  }

  var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  var object: [String: JSONValue]? { if case .object(let entries) = self { entries } else { nil } }
  var number: Double? { if case .number(let value) = self { value } else { nil } }
  var text: String? { if case .text(let value) = self { value } else { nil } }
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
}
