import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// A model on some units with some precision, as an evaluation compares them.
struct EvaluationContestant {
  let name: String
  private let path: String
  private let units: ComputeUnits
  private let precision: ComputePrecision

  /// Every combination that was asked for, models first; names tell them apart.
  static func all(
    _ models: [String], units: [ComputeUnits], precisions: [ComputePrecision], _ options: ModelOptions
  ) -> [EvaluationContestant] {
    let unitsList = units.isEmpty ? [.all] : units
    let precisionList = precisions.isEmpty ? [options.precision] : precisions
    let namesModel = models.count > 1 || unitsList.count * precisionList.count == 1
    // Of models that are called the same, as many folders are named as tell them apart.
    let depth = (1...8).first { depth in Set(models.map { Self.name($0, depth) }).count == Set(models).count } ?? 8
    return models.flatMap { path in
      unitsList.flatMap { units in
        precisionList.map { precision in
          let parts = [
            namesModel ? Self.name(path, depth) : nil, unitsList.count > 1 ? units.description : nil,
            precisionList.count > 1 ? precision.rawValue : nil,
          ]
          return EvaluationContestant(
            name: parts.compactMap { $0 }.joined(separator: ", "), path: path, units: units, precision: precision)
        }
      }
    }
  }

  private static func name(_ path: String, _ depth: Int) -> String {
    path.pathParts.suffix(depth).joined(separator: "/")
  }

  func load(_ options: ModelOptions) throws -> Model {
    var configuration = try options.configuration(units: units)
    configuration.precision = precision
    return try .loadWithProgress(path, configuration)
  }
}
