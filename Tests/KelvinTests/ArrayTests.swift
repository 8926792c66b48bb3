import Kelvin
import Synchronization
import Testing

/// Multi-arrays and shaped arrays against the formula of their elements' positions.
@Suite struct ArrayTests {
  /// 0, 1, 2, … in row-major order.
  private func counting<Scalar: ShapedArrayScalar>(_ shape: [Int], _: Scalar.Type) -> ShapedArray<Scalar>
  where Scalar: ExpressibleByIntegerLiteral & Numeric {
    ShapedArray(scalars: (0..<shape.reduce(1, *)).map { Scalar(exactly: $0) ?? 0 }, shape: shape)
  }

  @Test func multiArraysAreObjects() throws {
    let array = try MultiArray(shape: [2, 3], dataType: .float16)
    let same = array
    array[[1, 2]] = 1.5
    #expect(same.doubles == [0, 0, 0, 0, 0, 1.5])
    #expect(same[5] == 1.5)
    #expect(array.strides == [3, 1])
    #expect(throws: ModelError.self) { try MultiArray(shape: [-1], dataType: .int8) }
    #expect(throws: ModelError.self) { try MultiArray(shape: [.max, 2], dataType: .float32) }
    #expect(throws: ModelError.self) { try MultiArray([1, 2], shape: [3]) }
    #expect(throws: ModelError.self) { try MultiArray(shape: [2, 2], dataType: .int8, strides: [1]) }
    #expect(throws: ModelError.self) { try MultiArray(shape: [2, 2], dataType: .int8, strides: [-1, 1]) }
    #expect(throws: ModelError.self) { try MultiArray(shape: [3], dataType: .int8, strides: [.max]) }
  }

  @Test func stridesLocateTheElements() throws {
    // Columns first, with a gap after each.
    let array = try MultiArray(shape: [2, 3], dataType: .int32, strides: [1, 4])
    for row in 0..<2 { for column in 0..<3 { array[[row, column]] = Double(10 * row + column) } }
    #expect(array.doubles == [0, 1, 2, 10, 11, 12])
    #expect((0..<6).map { array[$0] } == [0, 1, 2, 10, 11, 12])
    array.withUnsafeBufferPointer(ofType: Int32.self) { elements in
      #expect(elements.count == 10)
      #expect(elements[9] == 12)
    }
    let dense = try MultiArray(shape: [2, 3], dataType: .float32)
    try array.transfer(to: dense)
    #expect(dense.floats == [0, 1, 2, 10, 11, 12])
    let back = try MultiArray(shape: [2, 3], dataType: .int32, strides: [1, 4])
    try dense.transfer(to: back)
    #expect(back == array)
    #expect(throws: ModelError.self) { try dense.transfer(to: MultiArray(shape: [3, 2], dataType: .float32)) }
  }

  @Test func arrayOverForeignMemoryReleasesItOnce() throws {
    let freed = Mutex(0)
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: 4)
    memory.initialize(repeating: 2, count: 4)
    var array: MultiArray? = try MultiArray(
      dataPointer: memory, shape: [2, 2], dataType: .float32,
      deallocator: { pointer in
        freed.withLock { $0 += 1 }
        pointer.deallocate()
      })
    memory[3] = 7
    #expect(array?.floats == [2, 2, 2, 7])
    array?[[0, 0]] = -1
    #expect(memory[0] == -1)
    #expect(freed.withLock { $0 } == 0)
    array = nil
    #expect(freed.withLock { $0 } == 1)
  }

  @Test(arguments: [0, 1, 2, -1]) func joinedArraysKeepTheElementOrder(axis: Int) throws {
    let positive = axis < 0 ? axis + 3 : axis
    var shapes = [[2, 3, 4], [2, 3, 4]]
    shapes[1][positive] = 5
    let parts = try shapes.enumerated().map { index, shape in
      let part = try MultiArray(shape: shape, dataType: index == 0 ? .float32 : .int32)
      for place in 0..<part.count { part[place] = Double(1000 * index + place) }
      return part
    }
    let joined = try MultiArray(concatenating: parts, axis: axis, dataType: .float64)
    var position = [0, 0, 0]
    for place in 0..<joined.count {
      var rest = place
      for axis in (0..<3).reversed() {
        position[axis] = rest % joined.shape[axis]
        rest /= joined.shape[axis]
      }
      let isFirst = position[positive] < shapes[0][positive]
      var inside = position
      if !isFirst { inside[positive] -= shapes[0][positive] }
      #expect(joined[position] == parts[isFirst ? 0 : 1][inside], "\(position)")
    }
    #expect(throws: ModelError.self) { try MultiArray(concatenating: [], axis: 0, dataType: .float32) }
    #expect(throws: ModelError.self) {
      try MultiArray(
        concatenating: [parts[0], MultiArray(shape: [2, 9], dataType: .float32)], axis: 0, dataType: .float32)
    }
  }

  @Test func slicesAreTheElementsBetweenTheirBounds() {
    let array = counting([3, 4, 5], Int32.self)
    #expect(array.count == 3 && array.scalarCount == 60 && array.strides == [20, 5, 1])
    #expect(array[scalarAt: 2, 1, 3] == 48)
    #expect(array[1].shape == [4, 5])
    #expect(array[1][2].scalars == [30, 31, 32, 33, 34])
    #expect(array[1, 2, 3].scalar == 33)
    #expect(array.map(\.shape) == [[4, 5], [4, 5], [4, 5]])
    let part = array[ranges: 1..<3, 1..<4, 2..<4]
    #expect(part.shape == [2, 3, 2])
    #expect(part.scalars == [27, 28, 32, 33, 37, 38, 47, 48, 52, 53, 57, 58])
    #expect(part[1][0].scalars == [47, 48])
    #expect(ShapedArray(part).strides == [6, 2, 1])
    #expect(array[ranges: 3..<3].scalars.isEmpty)
  }

  @Test func rangeOfSlicesIsASliceAtTheSamePositions() {
    var array = counting([4, 2], Int32.self)
    let middle = array[1..<3]
    #expect(middle.shape == [2, 2] && middle.scalars == [2, 3, 4, 5])
    #expect(Array(middle.indices) == [1, 2] && middle[2].scalars == [4, 5])
    #expect(middle[scalarAt: 0, 1] == 3)
    #expect(middle[2..<3].scalars == [4, 5] && middle.dropFirst().startIndex == 2)
    #expect(array.reversed().map(\.scalars) == [[6, 7], [4, 5], [2, 3], [0, 1]])
    array[2..<4] = array[0..<2]
    #expect(array.scalars == [0, 1, 2, 3, 0, 1, 2, 3])
    array[1..<3].sort { $0.scalars[0] < $1.scalars[0] }
    #expect(array.scalars == [0, 1, 0, 1, 2, 3, 2, 3])
  }

  @Test func shapedArraysAreMadeEmptyConvertedAndInPlace() {
    #expect(ShapedArray<Float>().shape == [0] && ShapedArray<Float>().scalars.isEmpty)
    let numbers = ShapedArray<Double>(scalars: [-1, 0.5, 1.5, 300], shape: [2, 2])
    // Rounded toward zero, and saturated.
    #expect(ShapedArray<UInt8>(converting: numbers).scalars == [0, 0, 1, 255])
    #expect(ShapedArraySlice<Float>(converting: numbers[1]).scalars == [1.5, 300])
    let filled = ShapedArray<Int32>(unsafeUninitializedShape: [2, 3]) { elements, strides in
      for row in 0..<2 {
        for column in 0..<3 { elements[row * strides[0] + column * strides[1]] = Int32(10 * row + column) }
      }
    }
    #expect(filled.scalars == [0, 1, 2, 10, 11, 12])
  }

  @Test func shapedArraysAreValues() {
    let original = counting([2, 3], Float.self)
    var copy = original
    copy[scalarAt: 0, 1] = 100
    copy[1] = ShapedArraySlice(scalars: [7, 8, 9], shape: [3])
    #expect(original.scalars == [0, 1, 2, 3, 4, 5])
    #expect(copy.scalars == [0, 100, 2, 7, 8, 9])
    copy[ranges: 0..<2, 2..<3] = ShapedArraySlice(scalars: [-1, -2], shape: [2, 1])
    #expect(copy.scalars == [0, 100, -1, 7, 8, -2])
    // Parts of the same array, read while it is written.
    copy[0] = copy[1]
    #expect(copy.scalars == [7, 8, -2, 7, 8, -2])
    copy.withUnsafeMutableShapedBufferPointer { elements, shape, strides in
      #expect(shape == [2, 3] && strides == [3, 1])
      elements[0] = 5
    }
    #expect(copy[scalarAt: 0, 0] == 5)
    var number = ShapedArray<Float>(scalar: 4)
    number.scalar = 6
    #expect(number.isScalar && number.scalars == [6] && number.isEmpty)
  }

  @Test func transposingMovesEveryElement() {
    let array = counting([2, 3, 4], Int64.self)
    let turned = array.transposed(permutation: [2, 0, 1])
    #expect(turned.shape == [4, 2, 3])
    for a in 0..<2 {
      for b in 0..<3 { for c in 0..<4 { #expect(turned[scalarAt: c, a, b] == array[scalarAt: a, b, c]) } }
    }
    #expect(array.transposed().transposed() == array)
    #expect(array.expandingShape(at: 1).shape == [2, 1, 3, 4])
    #expect(array.expandingShape(at: 1).squeezingShape() == array)
    #expect(array.reshaped(to: [24]).scalars == array.scalars)
    let joined = ShapedArray(concatenating: [array, array], alongAxis: -1)
    #expect(joined.shape == [2, 3, 8] && joined[scalarAt: 1, 2, 7] == array[scalarAt: 1, 2, 3])
  }

  @Test func arraysConvertBothWays() throws {
    func check<Scalar>(_ array: ShapedArray<Scalar>) throws {
      let multi = MultiArray(array)
      #expect(multi.dataType == Scalar.multiArrayDataType && multi.shape == array.shape)
      #expect(ShapedArray<Scalar>(multi) == array)
      #expect(FeatureValue(shapedArray: array).shapedArrayValue(of: Scalar.self) == array)
    }
    try check(counting([2, 5], Float.self))
    try check(counting([2, 5], Double.self))
    try check(counting([2, 5], Float16.self))
    try check(counting([2, 5], Int8.self))
    try check(counting([2, 5], Int16.self))
    try check(counting([2, 5], Int32.self))
    try check(counting([2, 5], Int64.self))
    try check(counting([2, 5], UInt8.self))
    let numbers = try MultiArray([-1.5, 300, 2.5], shape: [3])
    #expect(ShapedArray<UInt8>(converting: numbers).scalars == [0, 255, 2])
    #expect(FeatureValue(multiArray: numbers).shapedArrayValue(of: Double.self) == nil)
  }
}
