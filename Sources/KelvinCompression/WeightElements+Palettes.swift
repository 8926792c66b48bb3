import KelvinBasics

extension WeightElements {
  /// Returns palettes of several lengths. Groups have the largest size up to the form's that divides the channels.
  func palettes(_ form: WeightForm.Palette, bits: [Int]) -> [PaletteCode] {
    let channelsPerGroup = form.groupSize.map { Self.divisor(of: channelCount, upTo: $0) } ?? channelCount
    let scales = form.isScaled ? channelScales() : nil
    var codes = bits.map { bits in
      PaletteCode(
        bits: bits, indices: [UInt8](repeating: 0, count: values.count), tables: [],
        groupCount: channelCount / channelsPerGroup, scales: scales)
    }
    let size = channelSize
    for first in stride(from: 0, to: channelCount, by: channelsPerGroup) {
      let range = first * size..<(first + channelsPerGroup) * size
      let histogram = Histogram(
        scaled(range, by: scales), weights: weights(range, scales), isHalf: isHalf && scales == nil)
      let clustering = ScalarClustering(histogram.numbers, weights: histogram.weights)
      for index in codes.indices {
        let table = clustering.clusters(1 << codes[index].bits).means.map(stored)
        codes[index].indices.withUnsafeMutableBufferPointer {
          histogram.assign(to: table, UnsafeMutableBufferPointer(rebasing: $0[range]))
        }
        let missing = (1 << codes[index].bits) - table.count
        codes[index].tables += table + [Float](repeating: table.last ?? 0, count: missing)
      }
    }
    return codes
  }

  /// The largest magnitude at each position along the first axis; 1 for a channel of zeros.
  private func channelScales() -> [Float] {
    let size = channelSize
    return (0..<channelCount).map { channel in
      let largest = values[channel * size..<(channel + 1) * size].reduce(0) { max($0, abs($1)) }
      let scale = stored(largest)
      return scale > 0 ? scale : 1
    }
  }

  private func scaled(_ range: Range<Int>, by scales: [Float]?) -> [Float] {
    guard let scales else { return range.count == values.count ? values : Array(values[range]) }
    let size = channelSize
    return range.map { values[$0] / scales[$0 / size] }
  }

  /// How much the squared errors of scaled numbers count: by their importance and the squares of the scales; nil if all
  /// count equally.
  private func weights(_ range: Range<Int>, _ scales: [Float]?) -> [Float]? {
    let size = channelSize
    guard let scales else { return importance.map { Array($0[range]) } }
    return range.map { scales[$0 / size] * scales[$0 / size] * (importance?[$0] ?? 1) }
  }

  /// Returns a table of vectors along the first axis, by Lloyd's iterations from seeds of k-means++ (Arthur and
  /// Vassilvitskii, 2007); nil if the axis does not divide into vectors. The result is not optimal, but repeatable.
  func vectors(_ form: WeightForm.Palette) -> PaletteCode? {
    let (width, size) = (form.vectorSize, channelSize)
    guard channelCount % width == 0 else { return nil }
    var points: [SIMD4<Float>] = []
    points.reserveCapacity(values.count / width)
    for channel in stride(from: 0, to: channelCount, by: width) {
      for place in 0..<size {
        var point = SIMD4<Float>.zero
        for part in 0..<width { point[part] = values[(channel + part) * size + place] }
        points.append(point)
      }
    }
    var table = VectorClustering.table(points, count: 1 << form.bits)
    for index in table.indices { for part in 0..<width { table[index][part] = stored(table[index][part]) } }
    let indices = points.map { UInt8(VectorClustering.nearest($0, in: table).index) }
    let entries = table + [SIMD4<Float>](repeating: table.last ?? .zero, count: (1 << form.bits) - table.count)
    return PaletteCode(
      bits: form.bits, indices: indices, tables: entries.flatMap { entry in (0..<width).map { entry[$0] } },
      vectorSize: width)
  }
}

/// Clusters of vectors of up to four numbers.
enum VectorClustering {
  private static let (iterations, sampleLimit) = (25, 65_536)

  /// Returns the means of at most `count` clusters.
  static func table(_ points: [SIMD4<Float>], count: Int) -> [SIMD4<Float>] {
    // Some of the points find the table, if there are many.
    let step = max(1, points.count / sampleLimit)
    let sample = stride(from: 0, to: points.count, by: step).map { points[$0] }
    var generator = SeededGenerator(seed: 1)
    var table = [sample[Int.random(in: sample.indices, using: &generator)]]
    var distances = sample.map { distance($0, table[0]) }
    while table.count < count {
      let total = distances.reduce(0) { $0 + Double($1) }
      guard total > 0 else { break }
      var place = Double.random(in: 0..<total, using: &generator)
      let next = distances.firstIndex { distance in
        place -= Double(distance)
        return place < 0
      }
      table.append(sample[next ?? sample.count - 1])
      for (index, point) in sample.enumerated() {
        distances[index] = min(distances[index], distance(point, table[table.count - 1]))
      }
    }
    var error = Double.infinity
    for _ in 0..<iterations {
      var sums = [SIMD4<Double>](repeating: .zero, count: table.count)
      var (counts, next) = ([Double](repeating: 0, count: table.count), 0.0)
      for point in sample {
        let (index, distance) = nearest(point, in: table)
        sums[index] += SIMD4<Double>(point)
        counts[index] += 1
        next += Double(distance)
      }
      for index in table.indices where counts[index] > 0 { table[index] = SIMD4<Float>(sums[index] / counts[index]) }
      guard next < error * 0.9999 else { break }
      error = next
    }
    return table
  }

  /// Returns the nearest entry of a table, and its squared distance.
  static func nearest(_ point: SIMD4<Float>, in table: [SIMD4<Float>]) -> (index: Int, distance: Float) {
    var best = (index: 0, distance: Float.infinity)
    for (index, entry) in table.enumerated() {
      let distance = distance(point, entry)
      if distance < best.distance { best = (index, distance) }
    }
    return best
  }

  private static func distance(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> Float {
    let difference = first - second
    return (difference * difference).sum()
  }
}
