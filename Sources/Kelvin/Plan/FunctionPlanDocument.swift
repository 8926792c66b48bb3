package import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements
package import KelvinPlanning
import KelvinRuntime

/// The plans of a function's graphs, in the order in which the graphs run. It renders them as JSON, as text, as a page
/// and as a plan file.
package struct FunctionPlanDocument: Encodable, Sendable {
  /// The plan as its file stores it.
  package let plan: Plan
  /// The documents of the graphs; at least one.
  package let parts: [PlanDocument]

  package init(_ plan: Plan, _ parts: [PlanDocument]) {
    self.plan = plan
    self.parts = parts
  }

  /// Returns the contents of a plan file, for `ModelConfiguration.plan`.
  package func file() throws(ModelError) -> Data { try ModelError.wrapping { try plan.json() + [0x0A] } }

  /// Formats the plans for a terminal. A word that is wider than the terminal, such as a long path, is cut.
  ///
  /// - Parameters:
  ///   - width: the terminal's width in columns.
  ///   - showsAllLayers: lists every node of a long plan without folding repetitions; `isVerbose` does the same.
  package func text(width: Int, showsAllLayers: Bool = false, isVerbose: Bool) -> String {
    let texts = parts.map { part in
      PlanText(part, width: width, showsAllLayers: showsAllLayers, isVerbose: isVerbose).text()
    }
    return text(texts, width: width).split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0).truncatedInMiddle(to: width) }.joined(separator: "\n")
  }

  private func text(_ texts: [String], width: Int) -> String {
    guard parts.count > 1 else { return texts[0] }
    let total = "\(HumanReadable.seconds(plan.predicted)) \(expectedError.mark)"
    let head = "\(plan.subject.model): \(parts.count) graphs in sequence, \(total) for one warm prediction"
    let sections = zip(parts, texts).map { part, text in
      ["", "Graph '\((part.plan.parts.first?.name ?? "").printable)'", "", text].joined(separator: "\n")
    }
    return ([head.paragraph(width: width)] + sections).joined(separator: "\n")
  }

  /// How far the predicted time of all graphs may be off: the parts' errors in proportion to their times.
  var expectedError: ExpectedError {
    let errors = parts.map { (expectedError: $0.expectedError($0.explanation.solution), seconds: $0.plan.predicted) }
    guard parts.count > 1 else { return errors[0].expectedError }
    if let unknown = errors.first(where: { $0.expectedError.share == nil }) { return unknown.expectedError }
    let total = errors.reduce(0) { $0 + $1.seconds }
    return ExpectedError(
      share: total > 0 ? errors.reduce(0) { $0 + ($1.expectedError.share ?? 0) * $1.seconds } / total : 0,
      basis: "the errors of \(parts.count) graphs")
  }

  /// Encodes a single graph's document unchanged. For several graphs, `trials` has the trials by graph name, and
  /// `objective` is present for goals whose costs add up.
  package func encode(to encoder: any Encoder) throws {
    guard parts.count > 1 else { return try parts[0].encode(to: encoder) }
    let solutions = parts.map(\.explanation.solution)
    let isSum = plan.goal == .latency || plan.goal == .oneShot
    let trials = parts.compactMap { part in part.trial.map { (part.plan.parts.first?.name ?? "", $0) } }
    let document: JSONObject = [
      "foldedAway": parts.flatMap(\.foldedAway), "estimates": parts.flatMap(\.estimates).first(ofEach: \.device),
      "powers": parts.flatMap(\.powers).first(ofEach: \.device), "whatIf": parts[0].whatIf,
      "predictionError": expectedError, "transferSeconds": solutions.flatMap(\.transfers).reduce(0) { $0 + $1.seconds },
      "objective": isSum ? solutions.reduce(0) { $0 + $1.objective } : nil,
      "regrets": parts.allSatisfy(\.explanation.hasExactRegrets) ? "exact" : "bounds", "envelope": parts[0].budget,
      "trials": Dictionary(uniqueKeysWithValues: trials).nonEmpty,
    ]
    try document.extending(plan).encode(to: encoder)
  }
}

extension Array {
  /// Returns the first element of each value of a property, in order.
  fileprivate func first(ofEach property: (Element) -> some Hashable) -> [Element] {
    var seen: Set<AnyHashable> = []
    return filter { seen.insert(property($0)).inserted }
  }
}
