import KelvinVulkan
import TestSupport
import Testing

@Suite(.enabled(if: !imitated.isEmpty, absence))
struct QuantizedWeightTests {
  @Test(.slow, arguments: QuantizedProduct.all)
  func weightsStayQuantizedInDeviceMemory(_ product: QuantizedProduct) throws {
    #expect(try product.packedShare(on: imitated[0]) <= product.share)
  }
}
