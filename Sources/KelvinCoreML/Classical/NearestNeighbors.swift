import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  /// Reads a nearest-neighbors model.
  ///
  /// Prediction compares with every sample, whatever index the file asks for; an index finds the same samples. Among
  /// classes with equal shares the first in the order of the labels wins. A classifier that has not been trained has no
  /// samples and predicts a default label.
  func nearestNeighbors() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.KNearestNeighborsClassifier
    typealias Index = ClassicalSchema.NearestNeighborsIndex
    func refusal(_ reason: String) -> FormatError { message.malformed("nearest neighbours", reason) }
    func standard() throws(FormatError) -> Labels {
      switch try parameters.choice(among: [Fields.defaultStringLabel, Fields.defaultInt64Label]) {
      case Fields.defaultStringLabel: return .strings([try parameters.string(Fields.defaultStringLabel)])
      case Fields.defaultInt64Label: return .integers([Int64(try parameters.integer(Fields.defaultInt64Label) ?? 0)])
      default: throw refusal("it has no samples and no default label; train it first")
      }
    }
    guard let index = try parameters.message(Fields.nearestNeighborsIndex) else { throw refusal("it has no samples") }
    let width = try index.integer(Index.numberOfDimensions) ?? 0
    var samples: [Double] = []
    var count = 0
    try index.each(Index.floatSamples) { (field) throws(FormatError) in
      let sample = try LayerParameters(field.message()).numbers(ClassicalSchema.FloatVector.vector)
      guard sample.count == width, width > 0 else {
        throw refusal("sample \(count) has \(sample.count) numbers, expected \(width)")
      }
      samples += sample.map(Double.init)
      count += 1
    }
    let labels = try Labels(parameters, strings: Fields.stringClassLabels, integers: Fields.int64ClassLabels)
    guard labels?.count ?? 0 == count else { throw refusal("\(count) samples have \(labels?.count ?? 0) labels") }
    var (distinct, places) = labels?.sortedDistinct ?? (.strings([]), [])
    if count == 0 { distinct = try standard() }
    let asked = try parameters.message(Fields.numberOfNeighbors)?.integer(ClassicalSchema.Int64Parameter.defaultValue)
    guard let asked, asked > 0 else { throw refusal("it asks for \(asked ?? 0) neighbours") }
    let weighting = try parameters.choice(among: [Fields.uniformWeighting, Fields.inverseDistanceWeighting])
    let function = NearestNeighbors(
      samples: samples, width: width, classes: places, classCount: distinct.count, count: min(asked, count),
      countsByDistance: weighting == Fields.inverseDistanceWeighting)
    return try stage(function, labels: distinct)
  }
}

extension Labels {
  /// The distinct labels, sorted, and for each label its index among them.
  fileprivate var sortedDistinct: (labels: Labels, places: [Int]) {
    switch self {
    case .strings(let labels):
      let (distinct, places) = Self.sortedDistinct(labels)
      return (.strings(distinct), places)
    case .integers(let labels):
      let (distinct, places) = Self.sortedDistinct(labels)
      return (.integers(distinct), places)
    }
  }

  private static func sortedDistinct<Label: Hashable & Comparable>(_ labels: [Label]) -> ([Label], [Int]) {
    let distinct = Set(labels).sorted()
    let places = Dictionary(uniqueKeysWithValues: distinct.enumerated().map { ($1, $0) })
    return (distinct, labels.map { places[$0] ?? 0 })
  }
}
