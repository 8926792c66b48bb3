/// The attributes of an operator, or of a part that operators share. Writing and reading are both derived from it.
///
/// ```swift
/// package static let schema = AttributeSchema(
///   CumulativeReduce(.sum, axis: 0), .required("function", \.function), .required("axis", \.axis),
///   .optional("exclusive", \.isExclusive))
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
  func isPresent(in reader: AttributeReader) -> Bool { fields.first.map { reader.has($0.names[0]) } ?? false }

  var names: [String] { fields.flatMap(\.names) }
}

extension AttributeSchema where Owner: Operator {
  func make(_ attributes: [Attribute]) throws(OperatorError) -> Owner {
    var reader = try AttributeReader(attributes)
    let made = try read(&reader)
    if let unknown = reader.rest.first {
      let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
      throw OperatorError("\(Owner.name) has no attribute '\(unknown)': \(known)")
    }
    return made
  }
}

/// One attribute of a schema, or a group of them.
package struct AttributeField<Owner: Sendable>: Sendable {
  package typealias Path<Value> = any WritableKeyPath<Owner, Value> & Sendable

  let names: [String]
  let write: @Sendable (_ owner: Owner, _ blank: Owner) -> [Attribute]
  let read: @Sendable (inout AttributeReader, inout Owner) throws(OperatorError) -> Void

  /// An attribute that is always written and mandatory.
  package static func required<Value: AttributeConvertible>(_ name: String, _ path: Path<Value>) -> Self {
    Self(names: [name]) { owner, _ in
      [Attribute(name, owner[keyPath: path].attributeValue)]
    } read: { reader, owner throws(OperatorError) in
      guard let value = try reader.take(name, as: Value.self) else {
        throw OperatorError("the attribute '\(name)' is missing")
      }
      owner[keyPath: path] = value
    }
  }

  /// An attribute that is omitted if it equals the blank's.
  package static func optional<Value: AttributeConvertible>(_ name: String, _ path: Path<Value>) -> Self {
    Self(names: [name]) { owner, blank in
      let value = owner[keyPath: path].attributeValue
      return value == blank[keyPath: path].attributeValue ? [] : [Attribute(name, value)]
    } read: { reader, owner throws(OperatorError) in
      if let value = try reader.take(name, as: Value.self) { owner[keyPath: path] = value }
    }
  }

  /// An attribute that is omitted if it equals a default that follows from earlier attributes.
  package static func optional<Value: AttributeConvertible>(
    _ name: String, _ path: Path<Value>, default: @escaping @Sendable (Owner) -> Value
  ) -> Self {
    Self(names: [name]) { owner, _ in
      let value = owner[keyPath: path].attributeValue
      return value == `default`(owner).attributeValue ? [] : [Attribute(name, value)]
    } read: { reader, owner throws(OperatorError) in
      owner[keyPath: path] = try reader.take(name, as: Value.self) ?? `default`(owner)
    }
  }

  /// An attribute that is omitted if it is nil.
  package static func optional<Value: AttributeConvertible>(_ name: String, _ path: Path<Value?>) -> Self {
    Self(names: [name]) { owner, _ in
      owner[keyPath: path].map { [Attribute(name, $0.attributeValue)] } ?? []
    } read: { reader, owner throws(OperatorError) in
      owner[keyPath: path] = try reader.take(name, as: Value.self)
    }
  }

  /// The attributes of a part.
  package static func group<Part>(_ path: Path<Part>, _ schema: AttributeSchema<Part>) -> Self {
    Self(names: schema.names) { owner, _ in
      schema.write(owner[keyPath: path])
    } read: { reader, owner throws(OperatorError) in
      owner[keyPath: path] = try schema.read(&reader)
    }
  }

  /// The attributes of an optional part; its first attribute, which is mandatory, indicates its presence.
  package static func group<Part>(_ path: Path<Part?>, _ schema: AttributeSchema<Part>) -> Self {
    Self(names: schema.names) { owner, _ in
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
