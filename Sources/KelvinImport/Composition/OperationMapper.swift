/// How one kind of operation of a format is written in Kelvin's terms: the one shape that mappers of all formats have.
///
/// A mapper is a constant of its format's mapper type, in the file of its family, and in its format's catalog.
package protocol OperationMapper: Sendable {
  /// What the format calls its operations by: a text, or the number of a field.
  associatedtype Name: Hashable & Sendable
  /// A function from an operation, and what surrounds it, to what its outputs become.
  associatedtype Body

  var name: Name { get }
  /// Writes an operation.
  var map: Body { get }
  /// Every mapper of this type.
  static var byName: [Name: Self] { get }
}

extension OperationMapper {
  /// - Precondition: no two have one name.
  package static func table(_ mappers: [Self]) -> [Name: Self] {
    Dictionary(uniqueKeysWithValues: mappers.map { ($0.name, $0) })
  }
}
