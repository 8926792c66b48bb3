import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  func itemSimilarityRecommender() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.ItemSimilarityRecommender
    let table = try SimilarityTable(parameters)
    let labels = try Labels(parameters, strings: Fields.itemStringIds, integers: Fields.itemInt64Ids)
    let items = labels ?? .integers((0..<table.count).map(Int64.init))
    guard items.count >= table.count else {
      throw malformed("\(items.count) items have names, but the table names item \(table.count - 1)")
    }
    let names: [(field: Int, role: ItemRecommendation.Role)] = [
      (Fields.itemInputFeatureName, .given), (Fields.numRecommendationsInputFeatureName, .count),
      (Fields.itemRestrictionInputFeatureName, .restriction), (Fields.itemExclusionInputFeatureName, .exclusion),
    ]
    var read: [(name: String, role: ItemRecommendation.Role)] = []
    for (field, role) in names {
      let name = try parameters.text(field)
      if inputs.contains(where: { $0.name == name }) { read.append((name, role)) }
    }
    guard read.first?.role == .given else {
      throw malformed("it has no input for the given items")
    }
    func written(_ field: Int) throws(FormatError) -> String? {
      let name = try parameters.text(field)
      return outputs.contains { $0.name == name } ? name : nil
    }
    let list = try written(Fields.recommendedItemListOutputFeatureName)
    let scores = try written(Fields.recommendedItemScoreOutputFeatureName)
    guard list != nil || scores != nil else {
      throw malformed("it has no output for the recommended items")
    }
    let step = ItemRecommendation(
      items, similar: table.similar(items.count), shifts: table.shifts(items.count), inputs: read, list: list,
      scores: scores)
    return stage(step: step)
  }
}

/// The similarities between items that a file lists.
private struct SimilarityTable {
  private typealias Fields = ClassicalSchema.ItemSimilarityRecommender
  private var similar: [Int: [ItemRecommendation.Similar]] = [:]
  private var shifts: [Int: Double] = [:]
  /// The largest item number that occurs, plus 1.
  private(set) var count = 0

  init(_ parameters: LayerParameters) throws(FormatError) {
    var entries = 0
    try parameters.each(Fields.itemItemSimilarities) { (field) throws(FormatError) in
      let item = LayerParameters(try field.message())
      let place = try place(item, Fields.SimilarItems.itemId)
      shifts[place] = try item.double(Fields.SimilarItems.itemScoreAdjustment) ?? 0
      try item.each(Fields.SimilarItems.similarItemList) { (field) throws(FormatError) in
        try field.check(entries, WireMessage.countLimit)
        entries += 1
        let other = LayerParameters(try field.message())
        similar[place, default: []].append(
          ItemRecommendation.Similar(
            place: try self.place(other, Fields.ConnectedItem.itemId),
            similarity: try other.double(Fields.ConnectedItem.similarityScore) ?? 0))
      }
    }
  }

  private mutating func place(_ parameters: LayerParameters, _ field: Int) throws(FormatError) -> Int {
    let place = try parameters.integer(field) ?? 0
    guard (0..<WireMessage.operationLimit).contains(place) else {
      throw parameters.message.malformed(
        "itemSimilarityRecommender",
        "the table names item \(place), expected at most \(WireMessage.operationLimit) items")
    }
    count = max(count, place + 1)
    return place
  }

  func similar(_ count: Int) -> [[ItemRecommendation.Similar]] { (0..<count).map { similar[$0] ?? [] } }
  func shifts(_ count: Int) -> [Double] { (0..<count).map { shifts[$0] ?? 0 } }
}
