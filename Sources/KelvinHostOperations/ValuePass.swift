package import KelvinGraph

/// Copies a value to a slot of another name.
package struct ValuePass: OneInputOperation {
  package static let name = "value_pass"
  package let input: String
  package let output: String

  package init(input: String, output: String) {
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { inputs }
  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] { inputs }
}
