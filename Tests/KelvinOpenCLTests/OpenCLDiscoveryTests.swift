import KelvinDevices
import KelvinOpenCL
import Testing

struct OpenCLDiscoveryTests {
  @Test func missingLoaderIsReported() throws {
    let listings = OpenCLDevice.discover(libraryPath: "/nonexistent/libOpenCL.so.1")
    let listing = try #require(listings.first)
    #expect(listings.count == 1 && listing.device == nil)
    #expect(listing.reason.contains("/nonexistent/libOpenCL.so.1") && listing.reason.contains("install"))
  }

  @Test func foreignLoaderIsReported() throws {
    let listing = try #require(OpenCLDevice.discover(libraryPath: "libc.so.6").first)
    #expect(listing.device == nil && listing.reason.contains("has no clGetPlatformIDs"))
  }

  @Test(.enabled(if: !present.isEmpty, absence))
  func everyDeviceIsDescribed() {
    for (index, device) in present.enumerated() {
      #expect(device.info.id == "opencl:\(index)")
      #expect(!device.info.name.isEmpty && !device.info.driver.isEmpty && device.info.memory > 0)
      #expect((device.info.kind == .software) == (device.info.resource == "cpu"))
    }
  }
}
