import KelvinDevices
import KelvinOpenCL
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct QuantizedWeightTests {
  @Test(.slow, arguments: QuantizedProduct.all)
  func weightsStayQuantizedInDeviceMemory(_ product: QuantizedProduct) throws {
    for (name, device) in driven.sorted(by: { $0.key < $1.key }) where name.contains(" as ") {
      #expect(try product.packedShare(on: device) <= product.share, "\(name)")
    }
  }
}
