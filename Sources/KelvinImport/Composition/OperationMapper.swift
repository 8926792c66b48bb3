/// A mapper from one kind of operation of a format to Kelvin's operators. The mappers of all formats conform to it.
///
/// A mapper is a constant of its format's mapper type, in the file of its family, and in its format's catalog.
package protocol OperationMapper: Sendable {
  /// The type of the format's operation names: a string, or the number of a field.
  associatedtype Name: Hashable & Sendable
  /// The type of a function from an operation and its context to the operation's outputs.
  associatedtype Body

  var name: Name { get }
  /// Emits an operation.
  var map: Body { get }
  /// All mappers of this type by name.
  static var byName: [Name: Self] { get }
}

extension OperationMapper {
  /// Returns mappers by name.
  ///
  /// - Precondition: The names are distinct.
  package static func table(_ mappers: [Self]) -> [Name: Self] {
    Dictionary(uniqueKeysWithValues: mappers.map { ($0.name, $0) })
  }
}
