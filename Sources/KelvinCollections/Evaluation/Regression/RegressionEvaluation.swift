import Kelvin
import KelvinBasics
public import KelvinEvaluation
import KelvinTables
public import KelvinVision

/// An evaluation of the numbers that one or several models predict.
public struct RegressionEvaluation: Evaluation {
  /// The answers and errors of one model.
  public struct Result: Sendable {
    /// The contender's name.
    public let name: String
    /// The answer for each row that could be read, in the data set's order.
    public let answers: [Double]
    /// The errors of the answers; nil where an answer is not finite.
    public let errors: RegressionErrors?
    /// The 95 % confidence interval of the mean absolute error (``Bootstrap``).
    public let interval: ClosedRange<Double>?
    let distances: [Double]
  }

  public let contenders: [EvaluationContender<RegressionRequest>]
  public let examples: [RegressionTable.Row]
  /// The correct number of each row that could be read.
  public let truths: [Double]
  /// The name of the column with the correct numbers.
  public let target: String
  /// The results, in the order of the contenders.
  public let results: [Result]
  public let faults: [EvaluationFault]
  public let remarks: [String] = []
  private let comparisons = ComparisonCache()

  /// Runs models on rows. Each row is read once, and several rows are processed concurrently.
  ///
  /// - Parameters:
  ///   - contenders: At least one; the others are compared with the first.
  ///   - dataset: Rows of inputs with the correct numbers.
  ///   - progress: Called with the number of finished rows, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where a column is missing, or a field is not valid for a model;
  ///   `prediction` where a model fails.
  public init(
    of contenders: [EvaluationContender<RegressionRequest>], on dataset: RegressionTable,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) {
    let target = try Self.target(in: dataset, of: contenders.map(\.request))
    let run = try EvaluationRun<[Double]>(Self.self, contenders, on: dataset, progress: progress) {
      (place, question, row) throws(VisionError) in
      let truth: Double
      do throws(ModelError) { truth = try row.cells.number(target) } catch { throw .invalidRequest(error.description) }
      return [truth, try contenders[place].request.number(question)]
    }
    let truths = run.outcomes[0].map { $0[0] }
    results = zip(contenders, run.outcomes).map { contender, outcomes in
      let answers = outcomes.map { $0[1] }
      let distances = zip(truths, answers).map { abs($0 - $1) }
      return Result(
        name: contender.name, answers: answers,
        errors: answers.allSatisfy(\.isFinite) ? RegressionErrors(Array(zip(truths, answers))) : nil,
        interval: Bootstrap.interval(of: distances.count) { Self.mean(of: distances, at: $0) }, distances: distances)
    }
    (self.contenders, self.target, self.truths) = (contenders, dataset.columns[target], truths)
    (examples, faults) = (run.answered.map { dataset.examples[$0] }, run.faults)
  }

  private static let usualTarget = "target"

  /// Returns the index of the column with the correct numbers.
  private static func target(in table: RegressionTable, of requests: [RegressionRequest]) throws(VisionError) -> Int {
    let columns = table.columns
    var used: Set<Int> = []
    for request in requests {
      if let missing = request.neededImageNames.filter({ !columns.contains($0) }).min() {
        throw .invalidRequest("the table has no column '\(missing)' for the model's image; \(list(columns[...]))")
      }
      used.formUnion(try request.reader(of: table.examples[0].cells).usedColumns)
      used.formUnion(columns.indices.filter { request.imageNames.contains(columns[$0]) })
    }
    let others = columns.indices.filter { !used.contains($0) }
    let named = ([usualTarget] + requests.map(\.output)).lazy
      .compactMap { name in others.first { columns[$0] == name } }.first
    guard let target = named ?? (others.count == 1 ? others[0] : nil) else {
      throw .invalidRequest(
        "no column has the expected values: name it '\(usualTarget)', or '\(requests[0].output)' as the output; "
          + "besides the inputs \(list(others.map { columns[$0] }[...]))")
    }
    return target
  }

  private static func list(_ columns: ArraySlice<String>) -> String {
    guard !columns.isEmpty else { return "there are none" }
    let shown = columns.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
    return
      "there \(columns.count == 1 ? "is" : "are") \(shown)\(columns.count > 8 ? " and \(columns.count - 8) more" : "")"
  }

  static func mean(of numbers: [Double], at places: [Int]) -> Double? {
    places.isEmpty ? nil : places.reduce(0) { $0 + numbers[$1] } / Double(places.count)
  }

  public func comparison(of contender: Int, with other: Int) -> EvaluationComparison {
    comparisons.comparison(contender, other) {
      EvaluationComparison(of: examples.count) {
        Self.mean(of: results[contender].distances, at: $0)
      } against: {
        Self.mean(of: results[other].distances, at: $0)
      }
    }
  }
}
