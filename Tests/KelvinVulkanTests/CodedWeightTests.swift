import KelvinVulkan
import TestSupport
import Testing

@Suite(.enabled(if: !imitated.isEmpty, absence))
struct QuantizedWeightTests {
  @Test(arguments: CodedProduct.all) func weightsStayQuantizedInDeviceMemory(_ product: CodedProduct) throws {
    #expect(try product.packedShare(on: imitated[0]) <= product.share)
  }
}
