import FoundationEssentials
import Kelvin
import KelvinEngine
import KelvinImages
import KelvinIndex
import KelvinRuntime
import KelvinVision

extension PhotoModel {
  /// The description of the model and settings that an index stores.
  var facts: IndexFacts {
    var values = ["crop": settings.cropAndScale.rawValue]
    values["normalization"] = settings.normalization?.rawValue
    values["embedding"] = settings.embedding
    values["labels"] = settings.labels.map { $0.joined(separator: "\n") }
    let identity = ContentKey(
      [model.loaded.context.key.description, model.loaded.functionName]
        + values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
    return IndexFacts(
      modelName: model.url.lastPathComponent, modelPath: model.url.path, identity: identity.description,
      settings: values, dimensions: embeddingCount)
  }
}
