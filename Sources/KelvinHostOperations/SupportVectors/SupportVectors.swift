import Glibc

/// Support vectors and a kernel that compares rows with them.
package struct SupportVectors: Hashable, Sendable {
  package enum Kernel: Hashable, Sendable {
    case linear
    case radial(gamma: Double)
    case polynomial(gamma: Double, constant: Double, degree: Double)
    case sigmoid(gamma: Double, constant: Double)
  }

  package enum Vectors: Hashable, Sendable {
    /// The vectors, one after another.
    case dense([Double], width: Int)
    /// The nonzero numbers, vector after vector, with ascending indices within a vector. `starts` has one entry more
    /// than there are vectors.
    case sparse(starts: [Int], places: [Int], numbers: [Double])
  }

  package let kernel: Kernel
  package let vectors: Vectors
  /// The minimum width of a row, if it is more than that of the vectors.
  private let least: Int

  package init(_ kernel: Kernel, _ vectors: Vectors) {
    self.kernel = kernel
    self.vectors = vectors
    if case .sparse(_, let places, _) = vectors { least = (places.max() ?? -1) + 1 } else { least = 0 }
  }

  package var count: Int {
    switch vectors {
    case .dense(let numbers, let width): width == 0 ? 0 : numbers.count / width
    case .sparse(let starts, _, _): starts.count - 1
    }
  }

  package var widths: ClosedRange<Int> {
    switch vectors {
    case .dense(_, let width): width...width
    case .sparse: least...Int.max
    }
  }

  /// Returns the kernel of a row and each of the vectors.
  func kernels(_ rows: NumberRows, _ row: Int) -> [Double] {
    rows.numbers.withUnsafeBufferPointer { numbers in
      let row = UnsafeBufferPointer(rebasing: numbers[row * rows.width..<(row + 1) * rows.width])
      return (0..<count).map { vector in
        switch kernel {
        case .linear: return product(row, vector)
        case .radial(let gamma): return exp(-gamma * squaredDistance(row, vector))
        case .polynomial(let gamma, let constant, let degree):
          return pow(gamma * product(row, vector) + constant, degree)
        case .sigmoid(let gamma, let constant): return tanh(gamma * product(row, vector) + constant)
        }
      }
    }
  }

  private func product(_ row: UnsafeBufferPointer<Double>, _ vector: Int) -> Double {
    var sum = 0.0
    switch vectors {
    case .dense(let numbers, let width):
      numbers.withUnsafeBufferPointer { numbers in
        for place in 0..<width { sum += row[place] * numbers[vector * width + place] }
      }
    case .sparse(let starts, let places, let numbers):
      for index in starts[vector]..<starts[vector + 1] { sum += row[places[index]] * numbers[index] }
    }
    return sum
  }

  private func squaredDistance(_ row: UnsafeBufferPointer<Double>, _ vector: Int) -> Double {
    var sum = 0.0
    switch vectors {
    case .dense(let numbers, let width):
      numbers.withUnsafeBufferPointer { numbers in
        for place in 0..<width {
          let difference = row[place] - numbers[vector * width + place]
          sum += difference * difference
        }
      }
    case .sparse(let starts, let places, let numbers):
      var index = starts[vector]
      for place in row.indices {
        var difference = row[place]
        if index < starts[vector + 1], places[index] == place {
          difference -= numbers[index]
          index += 1
        }
        sum += difference * difference
      }
    }
    return sum
  }
}

/// A regression: the weighted sum of the kernels of a row and the support vectors.
package struct SupportVectorRegression: RowFunction {
  package static let name = "support_vector_regression"
  package let vectors: SupportVectors
  /// One coefficient for each vector.
  package let coefficients: [Double]
  package let offset: Double
  /// Whether the result is 1 for rows within the class of a one-class machine, else -1.
  package let isOneClass: Bool
  package let transform: ScoreTransform

  package init(
    _ vectors: SupportVectors, coefficients: [Double], offset: Double, isOneClass: Bool = false,
    transform: ScoreTransform = .none
  ) {
    precondition(coefficients.count == vectors.count)
    self.vectors = vectors
    self.coefficients = coefficients
    self.offset = offset
    self.isOneClass = isOneClass
    self.transform = transform
  }

  package var widths: ClosedRange<Int> { vectors.widths }
  package func resultCount(of width: Int) -> Int { 1 }

  package func results(_ rows: NumberRows) -> [Double] {
    (0..<rows.count).map { row in
      let kernels = vectors.kernels(rows, row)
      let sum = zip(coefficients, kernels).reduce(0) { $0 + $1.0 * $1.1 } + offset
      return isOneClass ? (sum > 0 ? 1 : -1) : transform([sum])[0]
    }
  }
}
