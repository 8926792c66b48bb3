import Accelerate
import Testing

/// Functions of Accelerate that published packages use.
@Suite struct AccelerateTests {
  @Test func quotientsAndProductsOfDifferences() {
    #expect(vDSP.divide(1, [2, 4] as [Float]) == [0.5, 0.25])
    #expect(vDSP.divide([2, 4] as [Double], 4) == [0.5, 1])
    let (a, b, c, d): ([Float], [Float], [Float], [Float]) = ([5, 7], [2, 3], [10, 20], [8, 15])
    #expect(vDSP.multiply(subtraction: (a, b), subtraction: (c, d)) == [6, 20])
  }

  @Test func scaledVectorsAreAdded() {
    let x: [Float] = [1, 9, 2, 9, 3, 9]
    var y: [Float] = [10, 20, 30]
    cblas_saxpy(3, 2, x, 2, &y, 1)
    #expect(y == [12, 24, 36])
    cblas_saxpy(2, 1, nil, 1, &y, 1)
    #expect(y == [12, 24, 36])
  }
}
