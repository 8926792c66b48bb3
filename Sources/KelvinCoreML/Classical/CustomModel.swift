import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  /// Reads a custom model, which the program's code computes.
  func customModel() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.CustomModel
    let source = CustomOperation.Source(
      kind: .model, place: "", className: try parameters.string(Fields.className),
      summary: try parameters.string(Fields.description),
      parameters: try parameters.customParameters(Fields.parameters), features: (inputs, outputs))
    return stage(step: CustomOperation(source, inputs: inputs.map(\.name), outputs: outputs.map(\.name)))
  }
}
