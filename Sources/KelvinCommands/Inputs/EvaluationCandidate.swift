import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// A combination of model, compute units and precision to evaluate.
struct EvaluationCandidate {
  let name: String
  private let path: String
  private let units: ComputeUnits
  private let precision: ComputePrecision

  /// Returns every requested combination, ordered by model first. Names contain only what distinguishes the
  /// combinations.
  static func all(
    _ models: [String], units: [ComputeUnits], precisions: [ComputePrecision], _ options: ModelOptions
  ) -> [EvaluationCandidate] {
    let unitsList = units.isEmpty ? [.all] : units
    let precisionList = precisions.isEmpty ? [options.precision] : precisions
    let namesModel = models.count > 1 || unitsList.count * precisionList.count == 1
    let name = Self.naming(models)
    return models.flatMap { path in
      unitsList.flatMap { units in
        precisionList.map { precision in
          let parts = [
            namesModel ? name(path) : nil, unitsList.count > 1 ? units.description : nil,
            precisionList.count > 1 ? precision.rawValue : nil,
          ]
          return EvaluationCandidate(
            name: parts.compactMap { $0 }.joined(separator: ", "), path: path, units: units, precision: precision)
        }
      }
    }
  }

  /// Returns the function that names models: by file name without extension if that is unique, otherwise by as many
  /// trailing path components as necessary.
  private static func naming(_ models: [String]) -> (String) -> String {
    func tail(_ path: String, _ depth: Int) -> String { path.pathParts.suffix(depth).joined(separator: "/") }
    let count = Set(models).count
    if Set(models.map(\.pathStem)).count == count { return { $0.pathStem } }
    let depth = (1...8).first { depth in Set(models.map { tail($0, depth) }).count == count } ?? 8
    return { tail($0, depth) }
  }

  func load(_ options: ModelOptions) throws -> Model {
    var configuration = try options.configuration(units: units)
    configuration.precision = precision
    return try .loadWithProgress(path, configuration)
  }
}
