package import KelvinGraph
package import KelvinReport

/// Compares outputs with those of the reference device.
package enum Agreement {
  /// - Parameters:
  ///   - outputs: for each input set, the model's outputs.
  ///   - reference: the same from the reference device.
  ///   - classes: the index of the output that holds one element for each class; nil for models without one.
  package static func compare(
    _ outputs: [[Tensor]], to reference: [[Tensor]], classes: Int?
  ) -> ReportAgreement {
    var largest = 0.0
    var sum = 0.0
    var count = 0
    var sameClass = 0
    for (ours, theirs) in zip(outputs, reference) {
      for (index, (mine, oracle)) in zip(ours, theirs).enumerated() {
        let (a, b) = (mine.doubles, oracle.doubles)
        for (x, y) in zip(a, b) where !(x == y || (x.isNaN && y.isNaN)) {
          let difference = abs(x - y)
          largest = difference.isNaN ? .infinity : max(largest, difference)
          sum += difference.isNaN ? .infinity : difference
        }
        count += a.count
        if index == classes, best(a) == best(b) { sameClass += 1 }
      }
    }
    return ReportAgreement(
      top1: classes == nil || outputs.isEmpty ? nil : Double(sameClass) / Double(outputs.count),
      largestDifference: largest, meanDifference: count > 0 ? sum / Double(count) : 0, inputs: outputs.count)
  }

  private static func best(_ values: [Double]) -> Int? { values.indices.max { values[$0] < values[$1] } }
}
