import Glibc

/// The distinct numbers of a list with their weights, or the means of its numbers in 65,536 cells of equal width if
/// there may be more.
struct Histogram {
  private let values: [Float]
  /// In ascending order.
  private(set) var numbers: [Float] = []
  private(set) var weights: [Double] = []
  /// By number of the list, its cell; empty for a short list.
  private var cells: [UInt16] = []
  /// The cells that hold numbers, in ascending order, and a number that is at most the least of each.
  private var occupied: [(cell: UInt16, least: Float)] = []

  private static let cellCount = 1 << 16
  /// A list of at most this many numbers is sorted.
  private static let sortedCount = 4096

  /// - Parameters:
  ///   - given: By number, its weight in the histogram; nil if all count 1.
  ///   - isHalf: Whether all numbers are float16.
  init(_ values: [Float], weights given: [Float]?, isHalf: Bool) {
    self.values = values
    if values.count <= Self.sortedCount {
      let order = given == nil ? [] : values.indices.sorted { values[$0] < values[$1] }
      if given == nil {
        for value in values.sorted() { add(value, 1) }
      } else {
        for place in order { add(values[place], Double(given?[place] ?? 1)) }
      }
      return
    }
    if isHalf { fillHalves(given) } else { fillCells(given) }
  }

  /// Appends a number; equal neighbours, as both zeros are, become one.
  private mutating func add(_ number: Float, _ weight: Double) {
    guard weight > 0 else { return }
    if let last = numbers.last, last == number {
      weights[weights.count - 1] += weight
    } else {
      numbers.append(number)
      weights.append(weight)
    }
  }

  private mutating func fillHalves(_ given: [Float]?) {
    cells = values.map(Self.rank)
    var totals = [Double](repeating: 0, count: Self.cellCount)
    count(given, &totals)
    for cell in totals.indices where totals[cell] > 0 {
      let number = Self.number(rank: cell)
      occupied.append((UInt16(cell), number))
      add(number, totals[cell])
    }
  }

  private mutating func fillCells(_ given: [Float]?) {
    let low = Double(values.min() ?? 0)
    let width = (Double(values.max() ?? 0) - low) / Double(Self.cellCount - 1)
    guard width > 0 else {
      cells = [UInt16](repeating: 0, count: values.count)
      occupied = [(0, Float(low))]
      return add(Float(low), Double(values.count))
    }
    cells = values.map { UInt16((Double($0) - low) / width) }
    var (totals, sums) = ([Double](repeating: 0, count: Self.cellCount), [Double](repeating: 0, count: Self.cellCount))
    count(given, &totals)
    for (place, cell) in cells.enumerated() { sums[Int(cell)] += Double(given?[place] ?? 1) * Double(values[place]) }
    for cell in totals.indices where totals[cell] > 0 {
      // Quotients are rounded, so that a number may be a little below its cell.
      occupied.append((UInt16(cell), Float(low + (Double(cell) - 1) * width)))
      add(Float(sums[cell] / totals[cell]), totals[cell])
    }
  }

  private func count(_ given: [Float]?, _ totals: inout [Double]) {
    if let given {
      for (place, cell) in cells.enumerated() { totals[Int(cell)] += Double(given[place]) }
    } else {
      for cell in cells { totals[Int(cell)] += 1 }
    }
  }

  /// Returns the rank of a float16 number among all float16 numbers.
  private static func rank(_ number: Float) -> UInt16 {
    let magnitude = number.magnitude
    let bits =
      magnitude < 0x1p-14
      ? UInt32(magnitude * 0x1p24) : (magnitude.bitPattern &- 0x3800_0000) >> 13
    return UInt16(truncatingIfNeeded: number.bitPattern >> 31 == 0 ? bits | 0x8000 : 0x7FFF - bits)
  }

  private static func number(rank: Int) -> Float {
    Float(Float16(bitPattern: UInt16(rank & 0x8000 != 0 ? rank - 0x8000 : 0xFFFF - rank)))
  }

  /// Stores the index of the nearest entry of a table for each number of the list.
  ///
  /// - Parameters:
  ///   - table: At most 256 entries in ascending order.
  ///   - indices: As many as the list has numbers.
  func assign(to table: [Float], _ indices: UnsafeMutableBufferPointer<UInt8>) {
    let bounds = zip(table, table.dropFirst()).map { (Double($0) + Double($1)) / 2 }
    guard !cells.isEmpty else {
      for (place, value) in values.enumerated() {
        var (low, high) = (0, bounds.count)
        while low < high {
          let middle = (low + high) / 2
          if Double(value) > bounds[middle] { low = middle + 1 } else { high = middle }
        }
        indices[place] = UInt8(low)
      }
      return
    }
    var (firsts, index) = ([UInt8](repeating: 0, count: Self.cellCount), 0)
    for (cell, least) in occupied {
      while index < bounds.count, Double(least) > bounds[index] { index += 1 }
      firsts[Int(cell)] = UInt8(index)
    }
    for (place, cell) in cells.enumerated() {
      var index = Int(firsts[Int(cell)])
      while index < bounds.count, Double(values[place]) > bounds[index] { index += 1 }
      indices[place] = UInt8(index)
    }
  }
}
