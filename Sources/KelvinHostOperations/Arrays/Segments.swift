package import KelvinGraph

/// The runs of equal integers other than 0 (`SegmentExtraction` of onnxruntime-extensions). The input is `[n]` or
/// `[1, n]`. Outputs: the first position of each run and the one behind it as `[runs, 2]`, and the value of each run.
package struct SegmentRuns: SlotOperation {
  package static let name = "segment_runs"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let words = try integerRow(0, inputs).words
    var (ends, values): ([Int64], [Int64]) = ([], [])
    for (place, word) in words.enumerated() where word != 0 {
      if place == 0 || words[place - 1] != word {
        values.append(word)
        ends.append(Int64(place))
      }
      if place == words.count - 1 || words[place + 1] != word { ends.append(Int64(place + 1)) }
    }
    return [.tensor(Tensor(ends, [values.count, 2])), .tensor(Tensor(values, [values.count]))]
  }
}

/// The sums of consecutive rows that have the same segment number (`SegmentSum` of onnxruntime-extensions). Inputs:
/// float32 rows, and the segment of each row, which is that of the row before or the next one.
package struct SegmentSums: SlotOperation {
  package static let name = "segment_sums"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (data, segments) = (try tensor(0, inputs), try integers(1, inputs))
    guard data.shape.rank > 0, segments.shape.rank == 1, segments.count == data.shape[0], let last = segments.words.last
    else { throw refused(1, "expected the segment of each row of \(data.type), got \(segments.type)") }
    let words = segments.words
    guard zip(words, words.dropFirst()).allSatisfy({ $1 == $0 || $1 == $0 &+ 1 }), words[0] >= 0 else {
      throw refused(1, "the segments are not in order", remedy: "repeat each number or give the next one, from 0 on")
    }
    guard last < 1 << 32 else { throw refused(1, "there are \(last) segments", remedy: "give fewer") }
    var shape = data.shape
    shape.dimensions[0] = Int(last) + 1
    shape = try checked(shape, at: 1)
    let width = data.count / words.count
    let floats = data.floats
    var sums = [Float](repeating: 0, count: shape.count)
    for (row, segment) in words.enumerated() {
      for column in 0..<width { sums[Int(segment) * width + column] += floats[row * width + column] }
    }
    return [.tensor(Tensor(sums, shape))]
  }
}
