package import KelvinGraph

/// Copies a value to a slot of another name.
package struct ValuePass: HostOperation {
  package static let name = "value_pass"
  package let input: String
  package let output: String

  package init(input: String, output: String) {
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { inputs }
  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] { inputs }
}
