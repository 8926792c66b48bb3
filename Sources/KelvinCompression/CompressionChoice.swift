/// Chooses a form for each weight: the least sum of costs within a number of bytes (a multiple-choice knapsack).
public struct CompressionChoice: Sendable {
  /// A form that a weight may have.
  public struct Option: Hashable, Sendable {
    /// The number of bytes.
    public let byteCount: Int
    /// The cost of the form, such as the change of the model's outputs. Costs of weights are added.
    public let cost: Double

    /// Creates an option.
    public init(byteCount: Int, cost: Double) { (self.byteCount, self.cost) = (byteCount, cost) }
  }

  /// Returns the option of each weight, by index; nil if even the smallest options exceed the budget.
  ///
  /// The result is optimal for byte counts that are rounded up to multiples of a 4,096th of the budget.
  ///
  /// - Parameters:
  ///   - options: The options of each weight, at least one.
  ///   - budget: The greatest number of bytes.
  public static func choose(from options: [[Option]], budget: Int) -> [Int]? {
    let unit = max(1, (budget + 4095) / 4096)
    let limit = budget / unit
    guard limit >= 0 else { return nil }
    // By number of units, the least cost of the weights so far.
    var costs = [Double](repeating: .infinity, count: limit + 1)
    costs[0] = 0
    var choices: [[UInt8]] = []
    for list in options {
      precondition(!list.isEmpty && list.count < 256, "a weight has 1 to 255 options")
      var next = [Double](repeating: .infinity, count: limit + 1)
      var chosen = [UInt8](repeating: 255, count: limit + 1)
      for (index, option) in list.enumerated() {
        let size = (option.byteCount + unit - 1) / unit
        guard size <= limit else { continue }
        for total in size...limit where costs[total - size] + option.cost < next[total] {
          next[total] = costs[total - size] + option.cost
          chosen[total] = UInt8(index)
        }
      }
      costs = next
      choices.append(chosen)
    }
    guard var total = costs.indices.min(by: { costs[$0] < costs[$1] }), costs[total].isFinite else { return nil }
    var result = [Int](repeating: 0, count: options.count)
    for index in options.indices.reversed() {
      result[index] = Int(choices[index][total])
      total -= (options[index][result[index]].byteCount + unit - 1) / unit
    }
    return result
  }
}
