// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same settings.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

func c(_ name: String, linking libraries: String...) -> Target {
  .target(
    name: name,
    linkerSettings: libraries.map { .linkedLibrary($0) })
}
func swift(_ name: String, _ needs: Target.Dependency...) -> Target {
  .target(name: name, dependencies: needs, swiftSettings: strict)
}
func test(_ name: String, _ needs: Target.Dependency...) -> Target {
  .testTarget(name: name, dependencies: needs, exclude: [], swiftSettings: strict)
}

/// One row per module, lowest layer first: a row may name only rows above it.
let package = Package(
  name: "Kelvin",
  products: [
    .library(name: "Kelvin", targets: ["Kelvin"]),
    .library(name: "KelvinVision", targets: ["KelvinVision"]),
    .executable(name: "kelvin", targets: ["kelvin"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
  ],
  targets: [
    c("CKelvinKernels"),
    c("CKelvinDrivers"),
    c("CKelvinShaders"),
    c("CKelvinProfiles"),
    swift("KelvinGraph"),
    swift("KelvinImages", "CKelvinDrivers"),
    swift("KelvinPasses", "KelvinGraph"),
    swift("KelvinFormats", "KelvinGraph"),
    swift("KelvinDevices", "KelvinGraph"),
    swift("KelvinReference", "KelvinGraph", "KelvinDevices"),
    swift("KelvinCPU", "CKelvinKernels", "CKelvinDrivers", "KelvinGraph", "KelvinDevices"),
    swift("KelvinVulkan", "CKelvinDrivers", "CKelvinShaders", "KelvinGraph", "KelvinDevices"),
    swift("KelvinOpenCL", "CKelvinDrivers", "CKelvinShaders", "KelvinGraph", "KelvinDevices"),
    swift("KelvinNull", "KelvinGraph", "KelvinDevices"),
    swift("KelvinPlanning"),
    swift("KelvinProfiling", "CKelvinDrivers", "CKelvinProfiles"),
    swift(
      "KelvinRuntime", "CKelvinDrivers", "CKelvinProfiles", "KelvinGraph", "KelvinDevices",
      "KelvinPlanning", "KelvinProfiling"),
    swift("KelvinBenchmark", "KelvinGraph", "KelvinDevices", "KelvinPlanning", "KelvinProfiling", "KelvinRuntime"),
    swift(
      "Kelvin", "KelvinGraph", "KelvinImages", "KelvinPasses", "KelvinFormats", "KelvinDevices", "KelvinReference",
      "KelvinCPU", "KelvinVulkan", "KelvinOpenCL", "KelvinPlanning", "KelvinProfiling", "KelvinRuntime",
      "KelvinBenchmark"),
    swift("KelvinVision", "Kelvin", "KelvinGraph"),
    .executableTarget(
      name: "kelvin",
      dependencies: [
        "Kelvin", "KelvinGraph", "KelvinImages", "KelvinFormats", "KelvinPasses", "KelvinDevices", "KelvinReference",
        "KelvinPlanning", "KelvinProfiling", "KelvinRuntime", "KelvinBenchmark", argumentParser,
      ],
      swiftSettings: strict),
    test("KelvinNullTests", "KelvinNull", "KelvinGraph", "KelvinDevices"),
    .executableTarget(
      name: "PictureBench", dependencies: ["KelvinImages"], path: "bench/PictureBench", swiftSettings: strict),
    .executableTarget(
      name: "TenLines", dependencies: ["Kelvin", "KelvinVision"], path: "Examples/TenLines", swiftSettings: strict),
    .executableTarget(name: "Measuring", dependencies: ["Kelvin"], path: "Examples/Measuring", swiftSettings: strict),
    .target(name: "CMutexForTSan", path: "Tests/CMutexForTSan"),
    .target(
      name: "TestSupport", dependencies: ["CMutexForTSan", "KelvinGraph", "KelvinDevices", "KelvinReference"],
      path: "Tests/TestSupport", swiftSettings: strict),
    test("KelvinGraphTests", "KelvinGraph", "KelvinDevices", "KelvinReference", "TestSupport"),
    test("KelvinPassesTests", "KelvinPasses", "KelvinGraph", "KelvinDevices", "KelvinReference", "TestSupport"),
    test(
      "KelvinRuntimeTests", "KelvinRuntime", "KelvinGraph", "KelvinDevices", "KelvinNull", "KelvinReference",
      "KelvinPlanning", "KelvinProfiling", "TestSupport"),
    test(
      "KelvinTests", "TenLines", "Measuring", "Kelvin", "KelvinVision", "KelvinGraph", "KelvinFormats", "KelvinPasses",
      "KelvinDevices",
      "KelvinReference", "KelvinRuntime", "KelvinPlanning", "KelvinImages", "TestSupport"),
    test(
      "KelvinVulkanTests", "CKelvinShaders", "KelvinVulkan", "KelvinReference", "KelvinGraph", "KelvinDevices",
      "TestSupport"),
    test("KelvinOpenCLTests", "KelvinOpenCL", "KelvinReference", "KelvinGraph", "KelvinDevices", "TestSupport"),
    test("CommandTests", "kelvin", "KelvinImages", "TestSupport"),
    test("KelvinFormatsTests", "KelvinFormats", "KelvinPasses", "KelvinGraph", "KelvinReference", "TestSupport"),
    test("KelvinPlanningTests", "KelvinPlanning"),
    test(
      "KelvinBenchmarkTests", "KelvinBenchmark", "KelvinGraph", "KelvinDevices", "KelvinReference", "KelvinPlanning",
      "KelvinProfiling", "KelvinRuntime"),
    test("KelvinImagesTests", "KelvinImages", "TestSupport"),
    test("KelvinVisionTests", "KelvinVision", "Kelvin", "TestSupport"),
    .target(name: "CFakeNVML", path: "Tests/CFakeNVML"),
    test("KelvinProfilingTests", "CFakeNVML", "KelvinProfiling"),
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    test(
      "KelvinCPUTests", "CAllocationCounter", "CKelvinKernels", "KelvinGraph", "KelvinDevices", "KelvinReference",
      "KelvinCPU", "TestSupport"),
  ],
  cLanguageStandard: .gnu2x
)

// Built by dev/fuzz.sh alone: it needs the fuzzer's runtime, and a linker that knows it.
if Context.environment["KELVIN_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "KelvinBenchmark", "KelvinDevices", "KelvinFormats", "KelvinGraph", "KelvinImages", "KelvinPasses",
        "KelvinPlanning", "KelvinProfiling", "KelvinReference",
      ],
      path: "Tests/Fuzz",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])],
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]))
}
