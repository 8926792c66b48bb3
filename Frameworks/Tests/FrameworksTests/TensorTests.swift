import CoreML
import Foundation
import Testing

/// Tensors against computations in plain Swift. One test at a time, because they count compilations.
@Suite(.serialized) struct TensorTests {
  private func floats(_ tensor: MLTensor) async -> [Float] {
    await (tensor.scalarType == Float.self ? tensor : tensor.cast(to: Float.self)).shapedArray(of: Float.self).scalars
  }

  private func integers(_ tensor: MLTensor) async -> [Int32] { await tensor.shapedArray(of: Int32.self).scalars }
  private func booleans(_ tensor: MLTensor) async -> [Bool] { await tensor.shapedArray(of: Bool.self).scalars }

  private func expect(
    _ tensor: MLTensor, _ shape: [Int], _ expected: [Double], _ name: String = "", tolerance: Double = 1e-5,
    location: SourceLocation = #_sourceLocation
  ) async {
    let found = await floats(tensor)
    let isNear = zip(found, expected).allSatisfy { found, expected in
      let (found, expected) = (Double(found), Double(Float(expected)))
      return found == expected || found.isNaN && expected.isNaN
        || Swift.abs(found - expected) <= tolerance * max(1, Swift.abs(expected))
    }
    #expect(
      tensor.shape == shape && found.count == expected.count && isNear,
      "\(name): \(found) of \(tensor.shape), expected \(expected) of \(shape)", sourceLocation: location)
  }

  private func compilations(_ body: () async throws -> Void) async rethrows -> Int {
    let before = await TensorModels.shared.compilationCount
    try await body()
    return await TensorModels.shared.compilationCount - before
  }

  private let x = MLTensor(shape: [2, 3], scalars: [1, 2, 3, 4, 5, 6], scalarType: Float.self)

  // MARK: Creation

  @Test func tensorsAreCreatedFromNumbers() async {
    await expect(MLTensor([1.0, 3.0, 2.0]), [3], [1, 3, 2])
    #expect(MLTensor([1.0]).scalarType == Float.self && MLTensor([1, 2]).scalarType == Int32.self)
    #expect(MLTensor([true, false]).scalarType == Bool.self && MLTensor(Float16(1)).scalarType == Float16.self)
    await expect(MLTensor(0..<Int32(4)), [4], [0, 1, 2, 3])
    await expect([[1, 2], [3, 4.5]], [2, 2], [1, 2, 3, 4.5])
    await expect(MLTensor(shape: [2, 1], scalars: [1, 2]), [2, 1], [1, 2])
    await expect(MLTensor(MLShapedArray<Float16>(scalars: [0.5, 1], shape: [1, 2])), [1, 2], [0.5, 1])
    await expect(MLTensor(repeating: -1e9, shape: [2, 2]), [2, 2], [-1e9, -1e9, -1e9, -1e9])
    await expect(MLTensor(zeros: [3], scalarType: Int32.self), [3], [0, 0, 0])
    await expect(MLTensor(ones: [3], scalarType: Float16.self), [3], [1, 1, 1])
    await expect(MLTensor(linearSpaceFrom: 1, through: 2, count: 5), [5], [1, 1.25, 1.5, 1.75, 2])
    await expect(MLTensor(rangeFrom: 0, to: 1, by: 0.25), [4], [0, 0.25, 0.5, 0.75])
    await expect(MLTensor(rangeFrom: Int32(1), to: 6, by: 2, scalarType: Int32.self), [3], [1, 3, 5])
    let bytes = [Float(7), 8].withUnsafeBytes { Data($0) }
    await expect(MLTensor(shape: [2], data: bytes, scalarType: Float.self), [2], [7, 8])
    let filled = MLTensor(unsafeUninitializedShape: [2], scalarType: UInt8.self) { bytes in
      bytes[0] = 3
      bytes[1] = 250
    }
    #expect(await filled.shapedArray(of: UInt8.self).scalars == [3, 250])
    #expect("\(filled)" == "MLTensor(shape: [2], scalarType: UInt8)")
    #expect(filled.rank == 1 && filled.scalarCount == 2 && !filled.isScalar && (filled.sum() as MLTensor).isScalar)
  }

  @Test func memoryOfTheCallerIsReleasedWithTheTensor() async {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 4)
    memory.copyBytes(from: [Float(1), 2].withUnsafeBytes(Array.init))
    nonisolated(unsafe) var count = 0
    do {
      let tensor = MLTensor(
        bytesNoCopy: UnsafeRawBufferPointer(memory), shape: [2], scalarType: Float.self,
        deallocator: .custom { pointer, _ in
          count += 1
          pointer.deallocate()
        })
      await expect(tensor + 1, [2], [2, 3])
      #expect(count == 0)
    }
    #expect(count == 1)
  }

  @Test func randomNumbersFollowTheirDistribution() async {
    let normal = MLTensor(randomNormal: [20_000], mean: 3, standardDeviation: 2, seed: 1, scalarType: Float.self)
    let numbers = await floats(normal).map(Double.init)
    let mean = numbers.reduce(0, +) / 20_000
    let deviation = (numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 20_000).squareRoot()
    #expect(Swift.abs(mean - 3) < 0.1 && Swift.abs(deviation - 2) < 0.1, "\(mean) ± \(deviation)")
    let uniform = await floats(MLTensor(randomUniform: [1000], in: -1..<1, seed: 1, scalarType: Float16.self))
    #expect(uniform.allSatisfy { -1 <= $0 && $0 < 1 } && uniform.min()! < -0.9 && uniform.max()! > 0.9)
    let dice = await integers(MLTensor(randomUniform: [600], in: 1...6, seed: 2, scalarType: Int32.self))
    #expect(Set(dice) == [1, 2, 3, 4, 5, 6])
    #expect(await integers(MLTensor(randomUniform: [600], in: 1...6, seed: 2, scalarType: Int32.self)) == dice)
    #expect(await integers(MLTensor(randomUniform: [600], in: 1...6, scalarType: Int32.self)) != dice)
  }

  // MARK: Elements

  private static let functions: [(String, @Sendable (MLTensor) -> MLTensor, @Sendable (Double) -> Double, [Double])] = [
    ("abs", { $0.abs() }, { Swift.abs($0) }, [-2.5, 0, 3]),
    ("acos", { $0.acos() }, { Foundation.acos($0) }, [-0.5, 0, 0.7]),
    ("acosh", { $0.acosh() }, { Foundation.acosh($0) }, [1, 1.5, 20]),
    ("asin", { $0.asin() }, { Foundation.asin($0) }, [-0.5, 0, 0.7]),
    ("asinh", { $0.asinh() }, { Foundation.asinh($0) }, [-5, 0, 0.7]),
    ("atan", { $0.atan() }, { Foundation.atan($0) }, [-5, 0, 0.7]),
    ("atanh", { $0.atanh() }, { Foundation.atanh($0) }, [-0.5, 0, 0.7]),
    ("ceil", { $0.ceil() }, { $0.rounded(.up) }, [-1.5, 0, 1.2]),
    ("cos", { $0.cos() }, { Foundation.cos($0) }, [-5, 0, 0.7]),
    ("cosh", { $0.cosh() }, { Foundation.cosh($0) }, [-2, 0, 0.7]),
    ("exp", { $0.exp() }, { Foundation.exp($0) }, [-2, 0, 3]),
    ("exp2", { $0.exp2() }, { Foundation.exp2($0) }, [-2, 0, 3.5]),
    ("floor", { $0.floor() }, { $0.rounded(.down) }, [-1.5, 0, 1.2]),
    ("log", { $0.log() }, { Foundation.log($0) }, [0.1, 1, 30]),
    ("reciprocal", { $0.reciprocal() }, { 1 / $0 }, [-0.5, 1, 4]),
    ("round", { $0.round() }, { $0.rounded(.toNearestOrEven) }, [-1.5, 0.5, 1.6]),
    ("rsqrt", { $0.rsqrt() }, { 1 / $0.squareRoot() }, [0.25, 1, 9]),
    ("sign", { $0.sign() }, { $0 < 0 ? -1 : $0 > 0 ? 1 : 0 }, [-3, 0, 2]),
    ("sin", { $0.sin() }, { Foundation.sin($0) }, [-5, 0, 0.7]),
    ("sinh", { $0.sinh() }, { Foundation.sinh($0) }, [-2, 0, 0.7]),
    ("squareRoot", { $0.squareRoot() }, { $0.squareRoot() }, [0, 2, 9]),
    ("squared", { $0.squared() }, { $0 * $0 }, [-3, 0, 2.5]),
    ("tan", { $0.tan() }, { Foundation.tan($0) }, [-1, 0, 0.7]),
    ("tanh", { $0.tanh() }, { Foundation.tanh($0) }, [-1, 0, 0.7]),
    ("negation", { -$0 }, { -$0 }, [-1, 0, 0.5]),
    ("clamped", { $0.clamped(to: -1...2) }, { min(max($0, -1), 2) }, [-3, 0.5, 4]),
  ]

  @Test func functionsOfEachElementMatchSwift() async {
    for (name, function, reference, numbers) in Self.functions {
      await expect(
        function(MLTensor(numbers.map { Float($0) })), [3], numbers.map { reference(Double(Float($0))) }, name)
    }
  }

  @Test func pairsOfElementsMatchSwift() async {
    let (a, b) = ([7.5, -7.5, 2, 9], [2.0, 2, -0.5, 3])
    let (left, right) = (MLTensor(a.map { Float($0) }), MLTensor(b.map { Float($0) }))
    let pairs = Array(zip(a, b))
    await expect(left + right, [4], pairs.map { $0 + $1 })
    await expect(left - right, [4], pairs.map { $0 - $1 })
    await expect(left * right, [4], pairs.map { $0 * $1 })
    await expect(left / right, [4], pairs.map { $0 / $1 })
    await expect(left % right, [4], pairs.map { $0.truncatingRemainder(dividingBy: $1) })
    await expect(left.abs().pow(right), [4], pairs.map { pow(Swift.abs($0), $1) })
    await expect(pointwiseMin(left, right), [4], pairs.map { min($0, $1) })
    await expect(pointwiseMax(left, right), [4], pairs.map { max($0, $1) })
    await expect(1 - left * Float(2), [4], a.map { 1 - $0 * 2 })
    await expect(Float(1) / left, [4], a.map { 1 / $0 })
    await expect(pointwiseMax(left, 0.5), [4], a.map { max($0, 0.5) })
    var sum = left
    sum += 1
    sum *= right
    sum -= 0.5
    sum /= 2
    await expect(sum, [4], pairs.map { (($0 + 1) * $1 - 0.5) / 2 })
    #expect(await booleans(left .< right) == pairs.map { $0 < $1 })
    #expect(await booleans(left .<= 2) == a.map { $0 <= 2 })
    #expect(await booleans(left .> right) == pairs.map { $0 > $1 })
    #expect(await booleans(left .>= Float(2)) == a.map { $0 >= 2 })
    #expect(await booleans(left .== 2.0) == a.map { $0 == 2 })
    #expect(await booleans(left .!= 2.0) == a.map { $0 != 2 })
    let (p, q) = (MLTensor([true, true, false, false]), MLTensor([true, false, true, false]))
    #expect(await booleans(p .& q) == [true, false, false, false])
    #expect(await booleans(p .| q) == [true, true, true, false])
    #expect(await booleans(p .^ q) == [false, true, true, false])
    #expect(await booleans(.!p) == [false, false, true, true])
  }

  @Test func sizesOfOneAreRepeated() async {
    await expect(x + MLTensor(shape: [2, 1], scalars: [10, 20]), [2, 3], [11, 12, 13, 24, 25, 26])
    await expect(MLTensor([1.0, 2.0, 3.0]) * x, [2, 3], [1, 4, 9, 4, 10, 18])
    await expect(
      MLTensor(shape: [2, 1], scalars: [1, 2]) + MLTensor(shape: [1, 1, 2], scalars: [10, 20]), [1, 2, 2],
      [11, 21, 12, 22])
  }

  @Test func operandsGetACommonType() async {
    let (half, whole, bytes) = (MLTensor([Float16(0.5)]), MLTensor([Int32(7)]), MLTensor([UInt8(200)]))
    #expect((half + x[0, 0..<1]).scalarType == Float.self && (half + whole).scalarType == Float16.self)
    #expect((half * 2.5).scalarType == Float16.self && (whole * 2).scalarType == Int32.self)
    #expect((whole * 2.5).scalarType == Float.self && (bytes + MLTensor([Int8(-1)])).scalarType == Int16.self)
    #expect((half * Float(2)).scalarType == Float.self && (MLTensor([true]) * 1000.0).scalarType == Float.self)
    await expect(MLTensor([true, false]) * 1000.0, [2], [1000, 0])
    await expect(bytes + MLTensor([Int8(-1)]), [1], [199])
    await expect(whole / 2, [1], [3])
    await expect(MLTensor([2.9, -2.9, 0]).cast(to: Int32.self), [3], [2, -2, 0])
    await expect(MLTensor([2.9, -2.9, 0]).cast(to: Bool.self), [3], [1, 1, 0])
    #expect((x.cast(like: half).scalarType == Float16.self) as Bool)
  }

  @Test func float16ResultsAreRoundedToFloat16() async {
    let half = MLTensor([Float16(1), 2048, 0.1])
    let found = await (half + Float16(1)).shapedArray(of: Float16.self).scalars
    #expect(found == [2, 2048, 1.1])
    let mean = await half.softmax().shapedArray(of: Float16.self).scalars
    #expect(mean == [0, 1, 0])
  }

  // MARK: Shapes

  @Test func shapesChange() async {
    await expect(x.reshaped(to: [3, -1]), [3, 2], [1, 2, 3, 4, 5, 6])
    await expect(x.flattened(), [6], [1, 2, 3, 4, 5, 6])
    await expect(x.expandingShape(at: 0, -1), [1, 2, 3, 1], [1, 2, 3, 4, 5, 6])
    #expect(x.expandingShape(at: 1).shape == [2, 1, 3] && x.expandingShape(at: 1).squeezingShape().shape == [2, 3])
    #expect(x.reshaped(to: [1, 2, 1, 3]).squeezingShape(at: 2).shape == [1, 2, 3])
    await expect(x.transposed(), [3, 2], [1, 4, 2, 5, 3, 6])
    await expect(x.expandingShape(at: 0).transposed(permutation: 2, 0, 1), [3, 1, 2], [1, 4, 2, 5, 3, 6])
    await expect(x.reversed(alongAxes: -1), [2, 3], [3, 2, 1, 6, 5, 4])
    await expect(x.reversed(), [2, 3], [6, 5, 4, 3, 2, 1])
    await expect(x.tiled(multiples: [1, 2]), [2, 6], [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6])
    await expect(x.concatenated(with: x), [4, 3], [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6])
    await expect(MLTensor(concatenating: [x, x[nil, 0..<1]], alongAxis: -1), [2, 4], [1, 2, 3, 1, 4, 5, 6, 4])
    await expect(MLTensor(stacking: [x[0], x[1]], alongAxis: 1), [3, 2], [1, 4, 2, 5, 3, 6])
    let parts = x.split(sizes: [1, 2], alongAxis: 1)
    await expect(parts[1], [2, 2], [2, 3, 5, 6])
    await expect(x.split(count: 2)[1], [1, 3], [4, 5, 6])
    let columns = x.unstacked(alongAxis: 1)
    #expect(columns.count == 3)
    await expect(columns[2], [2], [3, 6])
  }

  @Test func bordersAreFilled() async {
    let sizes = [(before: 0, after: 0), (before: 2, after: 2)]
    await expect(x.padded(forSizes: sizes, with: 9), [2, 7], [9, 9, 1, 2, 3, 9, 9, 9, 9, 4, 5, 6, 9, 9])
    await expect(
      x.padded(forSizes: sizes, mode: .reflection), [2, 7], [3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4])
    await expect(
      x.padded(forSizes: sizes, mode: .symmetric), [2, 7], [2, 1, 1, 2, 3, 3, 2, 5, 4, 4, 5, 6, 6, 5])
    let square = MLTensor(rangeFrom: 1, to: 10, by: 1).reshaped(to: [3, 3])
    await expect(square.bandPart(lowerBandCount: 0, upperBandCount: -1), [3, 3], [1, 2, 3, 0, 5, 6, 0, 0, 9])
    await expect(square.bandPart(lowerBandCount: 1, upperBandCount: 0), [3, 3], [1, 0, 0, 4, 5, 0, 0, 8, 9])
  }

  @Test func imagesAreResized() async {
    let image = MLTensor(shape: [1, 1, 2, 2], scalars: [1, 0, 0, 1], scalarType: Float.self)
    await expect(
      image.resized(to: (4, 4)), [1, 1, 4, 4], [1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    await expect(
      image[0].resized(to: (1, 3), method: .bilinear(alignCorners: true)), [1, 1, 3], [1, 0.5, 0])
    await expect(
      image.resized(to: (2, 4), method: .bilinear(alignCorners: false)), [1, 1, 2, 4],
      [1, 0.75, 0.25, 0, 0, 0.25, 0.75, 1])
  }

  @Test func subscriptsTakeParts() async {
    let y = MLTensor(rangeFrom: 0, to: 24, by: 1).reshaped(to: [2, 3, 4])
    #expect(y[..., 0].shape == [2, 3] && y[0, ...].shape == [3, 4] && y[0].shape == [3, 4])
    #expect(y[.newAxis, ...].shape == [1, 2, 3, 4] && y[nil, 1...].shape == [2, 2, 4])
    #expect(y[0..<1][.squeezeAxis, ...].shape == [3, 4] && y[.fillAll, .index(0)].shape == [2, 3])
    await expect(y[1, 2, ..., 1...2], [2], [21, 22])
    await expect(y[1, -1, 0], [], [20])
    await expect(y[0, nil, .range(0..<4, stride: 3)], [3, 2], [0, 3, 4, 7, 8, 11])
    await expect(y[1, ..<1, .partialRangeFrom(1..., stride: 2)], [1, 2], [13, 15])
    await expect(y[0, 0, .closedRange(0...3, stride: 2)], [2], [0, 2])
    await expect(y[..., 3..<3].sum(alongAxes: 2), [2, 3], [0, 0, 0, 0, 0, 0])
    #expect(await floats(y[..., 3..<3]).isEmpty)
  }

  // MARK: Reductions, order and products

  @Test func reductionsMatchSwift() async {
    await expect(x.sum(), [], [21])
    await expect(x.sum(alongAxes: 0, keepRank: true), [1, 3], [5, 7, 9])
    await expect(x.sum(alongAxes: [0, -1]), [], [21])
    await expect(x.mean(alongAxes: 1), [2], [2, 5])
    await expect(x.product(alongAxes: -1), [2], [6, 120])
    await expect(x.min(keepRank: true), [1, 1], [1])
    await expect(x.max(alongAxes: [-1], keepRank: true), [2, 1], [3, 6])
    await expect(x.sum(alongAxes: []), [2, 3], [1, 2, 3, 4, 5, 6])
    await expect((x .> 2).sum(), [], [4])
    let mask = MLTensor(shape: [2, 2], scalars: [true, false, true, true])
    #expect(await booleans(mask.all(alongAxes: 1)) == [false, true])
    #expect(await booleans(mask.any(alongAxes: 0)) == [true, true])
    #expect(await booleans(mask.all()) == [false])
    #expect(await booleans(mask.any(keepRank: true)) == [true])
  }

  @Test func elementsAreOrdered() async {
    let y = MLTensor(shape: [2, 4], scalars: [3, 1, 4, 1, 5, 9, 2, 6], scalarType: Float.self)
    #expect(await integers(y.argmax(alongAxis: -1)) == [2, 1])
    #expect(await integers(y.argmin(alongAxis: 0)) == [0, 0, 1, 0])
    #expect(await integers(y.argmax()) == [5])
    #expect(await integers(y.argmin()) == [1])
    #expect(y.argmax(alongAxis: 0, keepRank: true).shape == [1, 4])
    #expect(await integers(y.argsort()) == [1, 3, 0, 2, 2, 0, 3, 1])
    #expect(await integers(y.argsort(alongAxis: 0, descendingOrder: true)) == [1, 1, 0, 1, 0, 0, 1, 0])
    let (values, indices) = y.topK(2)
    await expect(values, [2, 2], [4, 3, 9, 6])
    #expect(await integers(indices) == [2, 0, 1, 3])
    await expect(y.cumulativeSum(alongAxis: 1), [2, 4], [3, 4, 8, 9, 5, 14, 16, 22])
    await expect(y.cumulativeProduct(), [2, 4], [3, 1, 4, 1, 15, 9, 8, 6])
    let powers = [1.0, 2, 3].map { exp($0) }
    await expect(x[0].softmax(), [3], powers.map { $0 / powers.reduce(0, +) })
    await expect(x.softmax(alongAxis: 0)[0], [3], [Double](repeating: 1 / (1 + exp(3.0)), count: 3))
  }

  @Test func slicesAreGatheredAndReplaced() async {
    let y = MLTensor(shape: [3, 3], scalars: [0, 1, 2, 10, 11, 12, 20, 21, 22], scalarType: Float.self)
    let places = MLTensor([2, 1], scalarType: Int32.self)
    await expect(y.gathering(atIndices: places, alongAxis: 1), [3, 2], [2, 1, 12, 11, 22, 21])
    await expect(y.gathering(atIndices: places, alongAxis: 0)[0], [3], [20, 21, 22])
    await expect(
      y.gathering(atIndices: places.reshaped(to: [2, 1]), alongAxis: 0), [2, 1, 3], [20, 21, 22, 10, 11, 12])
    await expect(y.gathering(atIndices: MLTensor(shape: [2, 2], scalars: [0, 0, 1, 1] as [Int32])), [2], [0, 11])
    await expect(y.gathering(atIndices: places.reshaped(to: [2, 1])), [2, 3], [20, 21, 22, 10, 11, 12])
    let mask = MLTensor([false, true, false])
    await expect(x.replacing(with: -x, where: mask), [2, 3], [1, -2, 3, 4, -5, 6])
    await expect(x.replacing(with: 5, where: mask)[0], [3], [1, 5, 3])
    let columns = MLTensor(shape: [2, 1], scalars: [1, 0] as [Int32])
    await expect(x.replacing(atIndices: columns, with: Float(99), alongAxis: 1), [2, 3], [1, 99, 3, 99, 5, 6])
    let news = MLTensor(shape: [2, 1], scalars: [7, 8])
    await expect(x.replacing(with: news, atIndices: columns, alongAxis: -1), [2, 3], [1, 7, 3, 8, 5, 6])
  }

  @Test func matrixProductsMatchSwift() async {
    await expect(x.matmul(x.transposed()), [2, 2], [14, 32, 32, 77])
    await expect(x.matmul(MLTensor([1.0, 0.0, 2.0])), [2], [7, 16])
    await expect(MLTensor([1.0, 2.0]).matmul(x), [3], [9, 12, 15])
    await expect(x[0].matmul(x[1]), [], [32])
    let batch = MLTensor(rangeFrom: 0, to: 12, by: 1).reshaped(to: [3, 1, 1, 4])
    await expect(batch.matmul(MLTensor(ones: [4, 2], scalarType: Float.self)), [3, 1, 1, 2], [6, 6, 22, 22, 38, 38])
  }

  // MARK: Random expressions

  @Test func randomExpressionsMatchAReference() async {
    let seed = ProcessInfo.processInfo.environment["TENSOR_SEED"].flatMap(UInt64.init) ?? .random(in: 0..<1 << 32)
    var random = SeededNumbers(state: seed)
    for _ in 0..<12 {
      var pool: [(MLTensor, TensorReference)] = (0..<3).map { _ in
        let shape = [3, 2, 4].map { Bool.random(using: &random) ? $0 : 1 }
        let numbers = TensorReference(shape) { _ in Double(Int.random(in: -8...8, using: &random)) / 4 }
        return (MLTensor(shape: shape, scalars: numbers.numbers.map { Float($0) }), numbers)
      }
      var trace: [String] = []
      for _ in 0..<8 {
        let (a, b) = (pool.randomElement(using: &random)!, pool.randomElement(using: &random)!)
        let axis = Int.random(in: 0..<3, using: &random)
        let kind = Int.random(in: 0..<8, using: &random)
        trace.append("\(kind) along \(axis) of \(a.0.shape) and \(b.0.shape)")
        switch kind {
        case 0: pool.append((a.0 + b.0, a.1.combined(b.1, +)))
        case 1: pool.append((a.0 - b.0 * 0.5, a.1.combined(b.1) { $0 - $1 * 0.5 }))
        case 2: pool.append((pointwiseMax(a.0, b.0), a.1.combined(b.1) { max($0, $1) }))
        case 3: pool.append((a.0.abs(), a.1.map { Swift.abs($0) }))
        case 4: pool.append((a.0.sum(alongAxes: axis, keepRank: true), a.1.sum(axis)))
        case 5: pool.append((a.0.tanh() * b.0, a.1.map { tanh($0) }.combined(b.1, *)))
        case 6:
          // The comparison is of exact numbers: a rounding error must not change its result.
          let (exact, numbers) = pool[axis]
          pool.append((exact.replacing(with: 0.3, where: exact .< 0.0), numbers.map { $0 < 0 ? 0.3 : $0 }))
        default:
          var start = a.1
          start.shape[axis] = 1
          let first = TensorReference(start.shape) { a.1[$0] }
          pool.append((a.0.split(sizes: [1, a.0.shape[axis] - 1], alongAxis: axis)[0], first))
        }
      }
      for (tensor, reference) in pool.reversed() {
        await expect(tensor, reference.shape, reference.numbers, "seed \(seed): \(trace)", tolerance: 1e-3)
      }
    }
  }

  @Test func shapesAndTypesThatDoNotFitStopTheProgram() async {
    await #expect(processExitsWith: .failure) { _ = MLTensor([1.0, 2.0]) + MLTensor([1.0, 2.0, 3.0]) }
    await #expect(processExitsWith: .failure) { _ = MLTensor([1.0, 2.0])[2] }
    await #expect(processExitsWith: .failure) { _ = await MLTensor([1.0]).shapedArray(of: Int32.self) }
  }

  // MARK: Runs

  @Test func tensorsAreComputedWhenTheirNumbersAreNeeded() async {
    var tensor = x
    let count = await compilations {
      for _ in 0..<3 { tensor = (tensor * 1.25).tanh() + 1 }
      #expect(tensor.shape == [2, 3])
    }
    #expect(count == 0)
    #expect(await compilations { _ = await floats(tensor) } == 1)
    #expect(await compilations { _ = await floats(tensor) } == 0, "a tensor keeps its numbers")
  }

  @Test func equalOperationsAreCompiledOnce() async {
    let count = await compilations {
      var state = MLTensor(zeros: [1, 5], scalarType: Float.self)
      for step in 0..<10 {
        state = state * Float(step) + 0.125
        await expect(state, [1, 5], [Double](repeating: expected(step), count: 5))
      }
    }
    #expect(count == 1)
    func expected(_ step: Int) -> Double { step == 0 ? 0.125 : expected(step - 1) * Double(step) + 0.125 }
  }

  @Test func operandsThatTheProgramHoldsKeepTheirNumbers() async {
    let shared = (x + 2.75).exp()
    let (first, second) = (shared.sum(), shared.mean())
    await expect(first, [], [[1.0, 2, 3, 4, 5, 6].map { exp($0 + 2.75) }.reduce(0, +)])
    #expect(await compilations { _ = await floats(shared) } == 0)
    await expect(second * 6, [], [Double(await floats(first)[0])])
  }

  @Test func longChainsAreComputedAndReleased() async throws {
    var sum = MLTensor(zeros: [2], scalarType: Float.self)
    for _ in 0..<10_000 { sum = sum + 1 }
    let chain = sum
    #expect(await compilations { await expect(chain, [2], [10_000, 10_000]) } <= 2)
    // A thread with a small stack releases a chain that was not computed.
    let thread = Thread {
      var sum = MLTensor(zeros: [2], scalarType: Float.self)
      for _ in 0..<100_000 { sum = sum + 1 }
    }
    thread.stackSize = 1 << 18
    thread.start()
    while !thread.isFinished { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func policiesChooseTheUnits() async {
    let count = await compilations {
      let made = withMLTensorComputePolicy(.cpuOnly) { x * 3 - 1.75 }
      await expect(made, [2, 3], [1.25, 4.25, 7.25, 10.25, 13.25, 16.25])
      let within = x * 3 - 1.75
      await withMLTensorComputePolicy(.cpuOnly) { _ = await floats(within) }
    }
    #expect(count == 1, "both run on the CPU only")
    #expect(await compilations { _ = await floats(x * 3 - 1.75) } == 1, "without a policy all units are allowed")
    #expect("\(MLComputePolicy(.cpuAndGPU))" == "MLComputePolicy(cpuAndGPU)" && MLComputePolicy.cpuOnly != .cpuAndGPU)
  }

  @Test func cancelledTasksGetTheirNumbers() async {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await floats((x + 6.5).cos())
    }
    task.cancel()
    #expect(await task.value.count == 6)
  }

  @Test func modelsPredictFromTensors() async throws {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    let url = Places.root.appendingPathComponent("Tests/Vectors/Compiled/accumulate.mlmodelc")
    let model = try await MLModel.load(contentsOf: url, configuration: configuration)
    let state = model.makeState()
    let input = MLTensor([0.5, 1.0]) * 2
    let first = try #require(try await model.prediction(from: ["x": input], using: state)["either"])
    let second = try #require(try await model.prediction(from: ["x": input], using: state)["either"])
    await expect(second - first, [2], [6, 12])
    await #expect(throws: MLModelError.self) { try await model.prediction(from: ["y": input], using: state) }
  }
}
