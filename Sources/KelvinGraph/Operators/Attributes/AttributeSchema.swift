/// The attributes of an operator, or of a part that operators share. Writing and reading are both derived from it.
///
/// ```swift
/// package static let schema = AttributeSchema(
///   Gather(axis: 0), .required("axis", \.axis, "the axis, counted from the front"))
/// ```
package struct AttributeSchema<Owner: Sendable>: Sendable {
  private let blank: Owner
  private let fields: [AttributeField<Owner>]

  /// Creates a schema.
  ///
  /// - Parameters:
  ///   - blank: Any value. Reading starts from it, and its optional attributes are the defaults.
  ///   - fields: The attributes in the order in which they are written and read; a default may depend on earlier
  ///     fields.
  package init(_ blank: Owner, _ fields: AttributeField<Owner>...) {
    self.blank = blank
    self.fields = fields
  }

  func write(_ owner: Owner) -> [Attribute] { fields.flatMap { $0.write(owner, blank) } }

  func read(_ reader: inout AttributeReader) throws(OperatorError) -> Owner {
    var owner = blank
    for field in fields { try field.read(&reader, &owner) }
    return owner
  }

  /// Whether the attributes include the part, which its first attribute indicates.
  func isPresent(in reader: AttributeReader) -> Bool { rows.first.map { reader.has($0.name) } ?? false }

  /// The attributes in words, in the order in which they are written.
  package var rows: [AttributeRow] { fields.flatMap { $0.rows(blank) } }
}

extension AttributeSchema where Owner: Operator {
  func make(_ attributes: [Attribute]) throws(OperatorError) -> Owner {
    var reader = try AttributeReader(attributes)
    let made = try read(&reader)
    if let unknown = reader.rest.first {
      let known = rows.isEmpty ? "it has none" : "it has \(rows.map(\.name).joined(separator: ", "))"
      throw OperatorError("\(Owner.name) has no attribute '\(unknown)': \(known)")
    }
    return made
  }
}

/// An attribute in words, as `docs/operators.md` describes it.
package struct AttributeRow: Hashable, Sendable {
  package let name: String
  package let type: String
  /// The value of an omitted attribute; nil for a mandatory one.
  package let `default`: String?
  package let meaning: String
}

/// One attribute of a schema, or a group of them.
package struct AttributeField<Owner: Sendable>: Sendable {
  package typealias Path<Value> = any WritableKeyPath<Owner, Value> & Sendable

  let rows: @Sendable (_ blank: Owner) -> [AttributeRow]
  let write: @Sendable (_ owner: Owner, _ blank: Owner) -> [Attribute]
  let read: @Sendable (inout AttributeReader, inout Owner) throws(OperatorError) -> Void

  private init(
    rows: @escaping @Sendable (Owner) -> [AttributeRow], write: @escaping @Sendable (Owner, Owner) -> [Attribute],
    read: @escaping @Sendable (inout AttributeReader, inout Owner) throws(OperatorError) -> Void
  ) {
    (self.rows, self.write, self.read) = (rows, write, read)
  }

  /// - Parameters:
  ///   - default: Returns the value of an omitted attribute for documentation.
  ///   - write: Returns the value; nil to omit it.
  ///   - read: Stores the value; nil if it is omitted.
  private init<Value: AttributeConvertible>(
    _ name: String, _ meaning: String, default: @escaping @Sendable (_ blank: Owner) -> String?,
    write: @escaping @Sendable (_ owner: Owner, _ blank: Owner) -> AttributeValue?,
    read: @escaping @Sendable (_ value: Value?, inout Owner) throws(OperatorError) -> Void
  ) {
    rows = { [AttributeRow(name: name, type: Value.attributeType, default: `default`($0), meaning: meaning)] }
    self.write = { owner, blank in write(owner, blank).map { [Attribute(name, $0)] } ?? [] }
    self.read = { reader, owner throws(OperatorError) in try read(try reader.take(name, as: Value.self), &owner) }
  }

  /// An attribute that is always written and mandatory.
  package static func required<Value: AttributeConvertible>(
    _ name: String, _ path: Path<Value>, _ meaning: String
  ) -> Self {
    Self(name, meaning, default: { _ in nil }) { owner, _ in
      owner[keyPath: path].attributeValue
    } read: { (value: Value?, owner) throws(OperatorError) in
      guard let value else { throw OperatorError("the attribute '\(name)' is missing") }
      owner[keyPath: path] = value
    }
  }

  /// An attribute that is omitted if it equals the blank's.
  package static func optional<Value: AttributeConvertible>(
    _ name: String, _ path: Path<Value>, _ meaning: String
  ) -> Self {
    Self(name, meaning, default: { "`\($0[keyPath: path].attributeValue)`" }) { owner, blank in
      let value = owner[keyPath: path].attributeValue
      return value == blank[keyPath: path].attributeValue ? nil : value
    } read: { (value: Value?, owner) in
      if let value { owner[keyPath: path] = value }
    }
  }

  /// An attribute that is omitted if it equals a default that follows from earlier attributes, as `defaultText` says.
  package static func optional<Value: AttributeConvertible>(
    _ name: String, _ path: Path<Value>, _ meaning: String, _ defaultText: String,
    default: @escaping @Sendable (Owner) -> Value
  ) -> Self {
    Self(name, meaning, default: { _ in defaultText }) { owner, _ in
      let value = owner[keyPath: path].attributeValue
      return value == `default`(owner).attributeValue ? nil : value
    } read: { (value: Value?, owner) in
      owner[keyPath: path] = value ?? `default`(owner)
    }
  }

  /// An attribute that is omitted if it is nil.
  package static func optional<Value: AttributeConvertible>(
    _ name: String, _ path: Path<Value?>, _ meaning: String
  ) -> Self {
    Self(name, meaning, default: { _ in "none" }) { owner, _ in
      owner[keyPath: path]?.attributeValue
    } read: { (value: Value?, owner) in
      owner[keyPath: path] = value
    }
  }

  /// The attributes of a part.
  package static func group<Part>(_ path: Path<Part>, _ schema: AttributeSchema<Part>) -> Self {
    Self(rows: { _ in schema.rows }) { owner, _ in
      schema.write(owner[keyPath: path])
    } read: { reader, owner throws(OperatorError) in
      owner[keyPath: path] = try schema.read(&reader)
    }
  }

  /// The attributes of an optional part; its first attribute, which is mandatory, indicates its presence.
  package static func group<Part>(_ path: Path<Part?>, _ schema: AttributeSchema<Part>) -> Self {
    Self(rows: { _ in schema.rows }) { owner, _ in
      owner[keyPath: path].map(schema.write) ?? []
    } read: { reader, owner throws(OperatorError) in
      owner[keyPath: path] = schema.isPresent(in: reader) ? try schema.read(&reader) : nil
    }
  }
}

/// A reader of attributes that are taken one by one.
struct AttributeReader {
  private var values: [String: AttributeValue] = [:]

  /// Creates a reader.
  ///
  /// - Throws: An error if a name occurs twice.
  init(_ attributes: [Attribute]) throws(OperatorError) {
    for attribute in attributes where values.updateValue(attribute.value, forKey: attribute.name) != nil {
      throw OperatorError("the attribute '\(attribute.name)' is given twice")
    }
  }

  /// The names that were not taken, sorted.
  var rest: [String] { values.keys.sorted() }

  func has(_ name: String) -> Bool { values[name] != nil }

  mutating func take<Value: AttributeConvertible>(
    _ name: String, as _: Value.Type
  ) throws(OperatorError) -> Value? {
    guard let value = values.removeValue(forKey: name) else { return nil }
    do { return try Value(value) } catch { throw OperatorError("attribute '\(name)': \(error.description)") }
  }
}
