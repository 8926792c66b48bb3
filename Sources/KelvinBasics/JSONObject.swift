/// The keys and values of a JSON object: `["name": name, "seconds": seconds]`. A key whose value is nil is left out;
/// `JSONNull(seconds)` writes `null` for it.
package struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
  package typealias Member = any Encodable & Sendable

  private var members: [(key: JSONKey, value: Member)]
  /// An object whose keys this one also has.
  private var base: Member?

  package init(dictionaryLiteral members: (String, Member?)...) {
    self.members = members.compactMap { key, value in value.map { (JSONKey(key), $0) } }
  }

  /// Adds a member with a new key, unless the value is nil.
  package mutating func add(_ key: String, _ value: Member?) {
    if let value { members.append((JSONKey(key), value)) }
  }

  /// Returns an object with the keys of another value and of this object, which have no key in common.
  package func extending(_ base: Member) -> JSONObject {
    var object = self
    object.base = base
    return object
  }

  package func encode(to encoder: any Encoder) throws {
    try base?.encode(to: encoder)
    var fields = encoder.container(keyedBy: JSONKey.self)
    for (key, value) in members { try fields.encode(value, forKey: key) }
  }
}

/// A value of a JSON object that is `null` instead of left out when it is nil.
package struct JSONNull<Value: Encodable & Sendable>: Encodable, Sendable {
  private let value: Value?

  package init(_ value: Value?) { self.value = value }

  package func encode(to encoder: any Encoder) throws {
    var field = encoder.singleValueContainer()
    if let value { try field.encode(value) } else { try field.encodeNil() }
  }
}

/// Any key of a JSON object.
package struct JSONKey: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(_ name: String) { stringValue = name }
  package init(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}

extension Collection {
  /// The collection, or nil if it is empty: a key without elements is left out of many documents.
  package var nonEmpty: Self? { isEmpty ? nil : self }
}

extension ClosedRange where Bound: Encodable {
  /// The bounds as documents write them: the lower, then the upper.
  package var ends: [Bound] { [lowerBound, upperBound] }
}

extension KeyedDecodingContainer {
  /// Returns the value of a key, or a fallback if the key is absent or null.
  package func decode<Value: Decodable>(_ key: Key, or fallback: Value) throws -> Value {
    try decodeIfPresent(Value.self, forKey: key) ?? fallback
  }
}
