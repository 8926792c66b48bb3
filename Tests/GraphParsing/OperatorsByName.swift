package import KelvinGraph

private let operatorsByName: [String: any Operator.Type] = Dictionary(
  uniqueKeysWithValues: (operatorCatalog + controlOperatorCatalog).map { ($0.name, $0) })

/// Creates the operator of a name, with attributes as in a dump or a file.
///
/// - Throws: `OperatorError` if there is no operator of that name, or if its attributes are different.
package func makeOperator(_ name: String, _ attributes: [Attribute] = []) throws(OperatorError) -> any Operator {
  guard let type = operatorsByName[name] else { throw OperatorError("there is no operator '\(name)'") }
  return try type.init(attributes: attributes)
}
