import Glibc
import KelvinGraph
import Testing

/// The package's folder, from the path of this file.
private let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

private let hasPython = system("python3 -c 'import tomllib' 2> /dev/null") == 0

@Suite struct ElementwiseTableTests {
  @Test(.enabled(if: hasPython, "python3 of version 3.11 is not installed"))
  func generatedSourcesMatchTheTables() {
    #expect(
      system("python3 '\(root)/dev/generate-elementwise.py' --check") == 0, "run dev/generate-elementwise.py")
  }

  /// Packs, plans and drivers' caches know functions by these numbers.
  @Test func functionNumbersAreStable() {
    #expect(UnaryFunction.Kind.logicalNot.code == 41)
    #expect(UnaryFunction.Kind.thresholdedRelu.code == 40)
    #expect(Binary.Function.logicalXor.code == 12)
    #expect(Compare.Function.greaterOrEqual.code == 5)
    #expect(Reduce.Function.logSumExp.code == 9)
    #expect(ScatterReduction.maximum.code == 4)
  }
}
