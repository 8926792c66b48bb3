// Compiles a model that was downloaded under any name, moves the result to its place, and loads it from there.
//
// CompiledModels MODEL PHOTO FOLDER
import CoreML
import Foundation

@main
struct CompiledModels {
  static func permanentLocation(of compiled: URL, in folder: URL) throws -> URL {
    let place = folder.appendingPathComponent(compiled.lastPathComponent)
    if FileManager.default.fileExists(atPath: place.path) {
      _ = try FileManager.default.replaceItemAt(place, withItemAt: compiled)
    } else {
      try FileManager.default.moveItem(at: compiled, to: place)
    }
    return place
  }

  static func label(_ model: MLModel, _ photo: URL) throws -> String {
    let (name, input) = model.modelDescription.inputDescriptionsByName.first!
    let image = try MLFeatureValue(
      imageAt: photo, constraint: input.imageConstraint!, options: [.cropAndScale: UInt(0)])
    let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [name: image]))
    let label = output.featureValue(for: model.modelDescription.predictedFeatureName!)!.stringValue
    let shares = output.featureValue(for: model.modelDescription.predictedProbabilitiesName!)!.dictionaryValue
    return "\(label) \(String(format: "%.1f", shares[label]!.doubleValue * 100))%"
  }

  static func main() async throws {
    let (model, photo) = (
      URL(fileURLWithPath: CommandLine.arguments[1]), URL(fileURLWithPath: CommandLine.arguments[2])
    )
    let folder = URL(fileURLWithPath: CommandLine.arguments[3])
    if model.pathExtension == "mlmodelc" {
      print("loaded: \(try label(try await MLModel.load(contentsOf: model), photo))")
      return
    }
    let compiled = try await MLModel.compileModel(at: model)
    print("compiled: \(compiled.pathExtension)")
    let place = try permanentLocation(of: compiled, in: folder)
    print("place: \(place.path)")
    print("moved: \(try label(MLModel(contentsOf: place), photo))")
    do {
      _ = try await MLModel.compileModel(at: photo)
      print("a photo was compiled")
    } catch { print("error: \((error as NSError).domain) \((error as NSError).code)") }
  }
}
