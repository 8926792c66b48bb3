#if Collections
import Kelvin
import KelvinBasics
public import KelvinEvaluation

/// How far the numbers of one or several models are from those that are right.
public struct RegressionEvaluation: Evaluation {
  /// What one of them said.
  public struct Result: Sendable {
    /// The contender's.
    public let name: String
    /// Of each row that could be read, in the data set's order.
    public let answers: [Double]
    /// How good that is; nil where an answer is no number.
    public let errors: RegressionErrors?
    /// Of the mean of the distances, with 95 % confidence (``Bootstrap``).
    public let interval: ClosedRange<Double>?
    let distances: [Double]
  }

  public let contenders: [EvaluationContender<RegressionRequest>]
  public let examples: [RegressionTable.Row]
  /// What is right, of each row that could be read.
  public let truths: [Double]
  /// The column that it stands in.
  public let target: String
  /// In the order of the contenders.
  public let results: [Result]
  public let faults: [EvaluationFault]
  public let remarks: [String] = []
  private let comparisons = ComparisonCache()

  /// Lets models answer rows, each of which is read once. Several are at work at a time.
  ///
  /// - Parameters:
  ///   - contenders: at least one; the others are compared with the first.
  ///   - dataset: rows of inputs and what is right.
  ///   - progress: told how many rows are done, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where a column is missing, or a field is not what a model takes;
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

  /// The place of the column with what is right.
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
        "what is right must stand in a column '\(usualTarget)', or in one called '\(requests[0].output)' as the output is; "
          + "beside the inputs \(list(others.map { columns[$0] }[...]))")
    }
    return target
  }

  private static func list(_ columns: ArraySlice<String>) -> String {
    guard !columns.isEmpty else { return "there are none" }
    let shown = columns.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
    return "there \(columns.count == 1 ? "is" : "are") \(shown)\(columns.count > 8 ? " and \(columns.count - 8) more" : "")"
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
#endif
