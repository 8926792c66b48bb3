// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// Returns a dependency that is used only if the package's trait is enabled.
func only(_ trait: String, _ name: String) -> Target.Dependency {
  .target(name: name, condition: .when(traits: [trait]))
}

/// Whether the Makefile builds. SwiftPM refuses a required package with unsafe flags, so that a program that requires
/// Kelvin chooses its own.
let isHardened = Context.environment["KELVIN_HARDENED"] != nil

#if arch(x86_64)
let branchProtection = "-fcf-protection=full"
#else
let branchProtection = "-mbranch-protection=standard"
#endif

/// Checks of the stack and of the C library's calls, and marks of valid branch targets (dev/check.sh binaries).
let hardened: [CSetting] =
  isHardened
  ? [
    .define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release)),
    .unsafeFlags(["-fstack-protector-strong", branchProtection]),
  ] : []

/// Tests that compute little compile in less than half the time without optimization (decision 129).
let unoptimized: [SwiftSetting] = [.unsafeFlags(["-Onone"])]

func c(_ name: String, linking libraries: String...) -> Target {
  .target(
    name: name,
    cSettings: hardened,
    linkerSettings: libraries.map { .linkedLibrary($0) })
}
func swift(_ name: String, _ needs: Target.Dependency...) -> Target {
  .target(name: name, dependencies: needs, swiftSettings: strict)
}
func test(_ name: String, _ needs: Target.Dependency..., computes: Bool = false) -> Target {
  .testTarget(
    name: name, dependencies: needs, exclude: [], swiftSettings: strict + (isHardened && !computes ? unoptimized : []))
}

/// Whether dev/fuzz.sh builds. Its program needs the fuzzer's runtime, whose entry point replaces any other.
let isFuzzing = Context.environment["KELVIN_FUZZ"] != nil

/// Whether dev/sanitize.sh builds for ThreadSanitizer.
let isWatchingThreads = Context.environment["KELVIN_SANITIZERS"] == "thread"

/// A replacement of a lock function in Swift's libraries, which shows locks to ThreadSanitizer. These libraries
/// therefore stay dynamic.
let locks: [Target.Dependency] = isWatchingThreads ? ["CMutexForTSan"] : []

/// Links Swift's libraries into the program: loading and binding them takes longer than reading a light model, and the
/// program then runs without an installed Swift. The last two are libraries of Foundation's archive.
let standalone: [LinkerSetting] = [
  .unsafeFlags(
    // All symbols are bound at the start, so that the tables of addresses are read-only afterwards.
    ["-use-ld=lld", "-Xlinker", "-znow", "-Xlinker", "-zrelro"]
      + (isWatchingThreads ? [] : ["-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections"]))
]

/// The same for the C library, which exports only the functions of `kelvin.h`.
let shared: [LinkerSetting] =
  isFuzzing
  ? []
  : standalone + [
    .unsafeFlags([
      "-Xlinker", "-soname=libkelvin.so.0", "-Xlinker", "--gc-sections", "-Xlinker",
      "--version-script=\(Context.packageDirectory)/Sources/CKelvin/kelvin.map",
    ])
  ]

/// One row for each module, lowest layer first: a row may name only rows above it.
let package = Package(
  name: "Kelvin",
  products: [
    .library(name: "Kelvin", targets: ["Kelvin"]),
    .library(name: "KelvinMeasuring", targets: ["KelvinMeasuring"]),
    .library(name: "KelvinTables", targets: ["KelvinTables"]),
    .library(name: "KelvinVision", targets: ["KelvinVision"]),
    .library(name: "KelvinCollections", targets: ["KelvinCollections"]),
    .library(name: "KelvinVideo", targets: ["KelvinVideo"]),
    .library(name: "KelvinText", targets: ["KelvinText"]),
    .library(name: "KelvinGeneration", targets: ["KelvinGeneration"]),
    .library(name: "KelvinCompression", targets: ["KelvinCompression"]),
    .library(name: "KelvinPackaging", targets: ["KelvinPackaging"]),
    .library(name: "KelvinStore", targets: ["KelvinStore"]),
  ]
    + (isFuzzing
      ? []
      : [
        .executable(name: "kelvin", targets: ["KelvinCLI"]),
        .library(name: "KelvinC", type: .dynamic, targets: ["KelvinCLibrary"]),
      ]),
  traits: [
    .trait(name: "CoreML", description: "Core ML's models."),
    .trait(name: "ONNX", description: "ONNX models."),
    .trait(name: "GPU", description: "The devices vulkan and opencl."),
    .default(enabledTraits: ["CoreML", "ONNX", "GPU"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
  ],
  targets: [
    c("CKelvinKernels"),
    // OpenSSL's SHA-256 is linked into the program, because loading its library would take longer than all hashing of a
    // warm start. zlib's code is small.
    c("CKelvinSupport", linking: ":libcrypto.a", ":libz.a"),
    c("CKelvinCrypto", linking: ":libcrypto.a"),
    c("CKelvinCodecs", linking: ":libz.a"),
    c("CKelvinImages"),
    c("CKelvinShaders"),
    c("CKelvinTransfer"),
    c("CKelvin"),
    swift("KelvinBasics"),
    swift("KelvinIsolation", "CKelvinSupport", "KelvinBasics"),
    swift("KelvinGraph", "CKelvinSupport", "KelvinBasics"),
    swift("KelvinImages", "CKelvinImages", "CKelvinSupport", "KelvinBasics", "KelvinIsolation"),
    swift("KelvinPasses", "KelvinBasics", "KelvinGraph"),
    swift("KelvinHostOperations", "KelvinBasics", "KelvinGraph", "KelvinImages"),
    swift("KelvinEvaluation", "KelvinBasics", "KelvinHostOperations"),
    swift("KelvinTracking"),
    swift("KelvinFeatures", "KelvinBasics", "KelvinGraph", "KelvinImages", "KelvinHostOperations"),
    swift("KelvinIndex", "CKelvinSupport", "KelvinBasics", "KelvinHostOperations", "KelvinFeatures"),
    swift("KelvinImport", "CKelvinSupport", "KelvinBasics", "KelvinGraph", "KelvinHostOperations"),
    swift("KelvinONNX", "KelvinBasics", "KelvinGraph", "KelvinHostOperations", "KelvinImport"),
    swift("KelvinCoreML", "KelvinBasics", "KelvinGraph", "KelvinHostOperations", "KelvinImport"),
    swift("KelvinDevices", "CKelvinSupport", "KelvinBasics", "KelvinGraph"),
    swift("KelvinConformance", "KelvinBasics", "KelvinGraph", "KelvinDevices"),
    swift("KelvinReference", "KelvinBasics", "KelvinGraph", "KelvinDevices"),
    swift("KelvinCPU", "CKelvinKernels", "CKelvinSupport", "KelvinGraph", "KelvinDevices"),
    swift("KelvinGPU", "KelvinGraph", "KelvinDevices"),
    swift("KelvinVulkan", "CKelvinSupport", "CKelvinShaders", "KelvinGraph", "KelvinDevices", "KelvinGPU"),
    swift("KelvinOpenCL", "CKelvinSupport", "CKelvinShaders", "KelvinGraph", "KelvinDevices", "KelvinGPU"),
    swift("KelvinPlanning", "KelvinBasics"),
    swift("KelvinMeasurements", "KelvinBasics"),
    swift("KelvinThermal", "CKelvinSupport", "KelvinBasics", "KelvinMeasurements"),
    swift("KelvinReport", "KelvinBasics", "KelvinPlanning", "KelvinMeasurements", "KelvinThermal"),
    swift(
      "KelvinRuntime", "CKelvinSupport", "KelvinBasics", "KelvinGraph", "KelvinDevices",
      "KelvinPlanning", "KelvinMeasurements"),
    swift(
      "KelvinProfiler", "KelvinBasics", "KelvinGraph", "KelvinDevices", "KelvinPlanning", "KelvinMeasurements",
      "KelvinThermal", "KelvinReport", "KelvinRuntime"),
    swift(
      "KelvinStreams", "KelvinBasics", "KelvinGraph", "KelvinDevices", "KelvinPlanning", "KelvinMeasurements",
      "KelvinThermal", "KelvinReport", "KelvinRuntime"),
    swift(
      "KelvinBench", "KelvinBasics", "KelvinGraph", "KelvinDevices", "KelvinPlanning", "KelvinMeasurements",
      "KelvinThermal", "KelvinReport", "KelvinRuntime", "KelvinProfiler", "KelvinStreams"),
    swift(
      "KelvinEngine", "KelvinBasics", "KelvinIsolation", "KelvinGraph", "KelvinImages", "KelvinPasses",
      "KelvinHostOperations", "KelvinFeatures", "KelvinImport", only("ONNX", "KelvinONNX"),
      only("CoreML", "KelvinCoreML"), "KelvinDevices",
      "KelvinReference", "KelvinCPU", only("GPU", "KelvinVulkan"), only("GPU", "KelvinOpenCL"), "KelvinPlanning",
      "KelvinMeasurements", "KelvinRuntime"),
    swift(
      "Kelvin", "KelvinBasics", "KelvinIsolation", "KelvinGraph", "KelvinImages", "KelvinPasses",
      "KelvinHostOperations", "KelvinFeatures", "KelvinImport", "KelvinDevices", "KelvinReference", "KelvinPlanning",
      "KelvinMeasurements",
      "KelvinThermal", "KelvinRuntime", "KelvinEngine"),
    swift(
      "KelvinMeasuring", "KelvinBasics", "KelvinGraph", "KelvinImages", "KelvinFeatures", "KelvinDevices",
      "KelvinPlanning", "KelvinMeasurements", "KelvinThermal", "KelvinReport", "KelvinRuntime", "KelvinProfiler",
      "KelvinStreams", "KelvinBench", "KelvinEngine", "Kelvin"),
    swift(
      "KelvinTables", "KelvinBasics", "KelvinGraph", "KelvinHostOperations", "KelvinFeatures", "KelvinReport",
      "KelvinRuntime", "KelvinEngine", "Kelvin"),
    swift(
      "KelvinVision", "KelvinBasics", "KelvinGraph", "KelvinImages", "KelvinHostOperations", "KelvinFeatures",
      "KelvinRuntime", "KelvinEngine", "Kelvin"),
    swift(
      "KelvinCollections", "KelvinBasics", "KelvinGraph", "KelvinImages", "KelvinHostOperations", "KelvinEvaluation",
      "KelvinIndex", "KelvinReport", "KelvinRuntime", "KelvinEngine", "Kelvin", "KelvinMeasuring", "KelvinTables",
      "KelvinVision"),
    swift(
      "KelvinVideo", "KelvinBasics", "KelvinGraph", "KelvinImages", "KelvinTracking", "KelvinMeasurements",
      "KelvinThermal", "KelvinReport", "KelvinRuntime", "KelvinEngine", "Kelvin", "KelvinMeasuring", "KelvinVision",
      "KelvinCollections"),
    swift("KelvinText", "KelvinBasics", "KelvinHostOperations", "Kelvin"),
    swift("KelvinGeneration", "KelvinBasics", "Kelvin"),
    swift(
      "KelvinCompression", "CKelvinCodecs", "KelvinBasics", "KelvinGraph", "KelvinEvaluation", "KelvinImport",
      "KelvinMeasurements", "KelvinReport", "Kelvin"),
    swift(
      "KelvinPackaging", "CKelvinCodecs", "CKelvinCrypto", "CKelvinSupport", "KelvinBasics", "KelvinGraph",
      "KelvinFeatures", "KelvinImport", "Kelvin"),
    swift(
      "KelvinStore", "CKelvinSupport", "CKelvinTransfer", "KelvinBasics", "KelvinFeatures", "KelvinDevices",
      "KelvinRuntime", "KelvinEngine", "Kelvin", "KelvinPackaging"),
    swift("KelvinC", "CKelvin", "KelvinBasics", "KelvinImages", "Kelvin", "KelvinMeasuring"),
    .target(
      name: "KelvinCLibrary", dependencies: ["KelvinC"] + locks, swiftSettings: strict, linkerSettings: shared),
    swift(
      "KelvinCommands", "KelvinBasics", "KelvinConformance", "Kelvin", "KelvinMeasuring", "KelvinTables",
      "KelvinVision", "KelvinCollections", "KelvinText", "KelvinGeneration", "KelvinCompression",
      "KelvinPackaging", "KelvinStore", "KelvinVideo", argumentParser),
    .target(name: "CMutexForTSan", path: "Tests/CMutexForTSan"),
    .target(name: "CFakeNVML", path: "Tests/CFakeNVML"),
    .target(name: "CFaultyDrivers", dependencies: ["CKelvinSupport"], path: "Tests/CFaultyDrivers"),
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    .target(
      name: "CKernelChecks", dependencies: ["CKelvinKernels"], path: "Tests/KernelChecks", exclude: ["main.c"]),
    .target(
      name: "TestSupport",
      dependencies: [
        "CMutexForTSan", "CKelvinSupport", "KelvinBasics", "KelvinGraph", "KelvinDevices", "KelvinReference",
        "KelvinPlanning", "KelvinMeasurements", "KelvinThermal", "KelvinReport", "KelvinRuntime",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "FaultyServer", dependencies: ["TestSupport"], path: "Tests/FaultyServer",
      exclude: ["rtsp_server.py", "server.py"],
      swiftSettings: strict),
    .target(
      name: "GraphParsing", dependencies: ["KelvinGraph"], path: "Tests/GraphParsing", swiftSettings: strict),
    .target(
      name: "ConformanceChecks", dependencies: ["KelvinBasics", "KelvinGraph", "KelvinDevices", "KelvinConformance"],
      path: "Tests/ConformanceChecks", swiftSettings: strict),
    test("KelvinBasicsTests", "KelvinBasics", "TestSupport"),
    test(
      "KelvinGraphTests", "GraphParsing", "KelvinBasics", "KelvinGraph", "KelvinPasses", "KelvinDevices",
      "KelvinConformance",
      "ConformanceChecks",
      "KelvinReference", "TestSupport"),
    test(
      "KelvinHostOperationsTests", "KelvinBasics", "KelvinHostOperations", "KelvinGraph", "KelvinImages", "TestSupport"),
    test("KelvinEvaluationTests", "KelvinHostOperations", "KelvinEvaluation", "TestSupport"),
    test("KelvinTrackingTests", "KelvinBasics", "KelvinTracking"),
    test("KelvinIndexTests", "KelvinFeatures", "KelvinBasics", "KelvinHostOperations", "KelvinIndex", "TestSupport"),
    test("KelvinImagesTests", "KelvinBasics", "KelvinIsolation", "KelvinImages", "TestSupport"),
    test(
      "KelvinPassesTests", "KelvinBasics", "KelvinPasses", "KelvinGraph", "KelvinDevices", "KelvinConformance",
      "ConformanceChecks",
      "KelvinCPU",
      "KelvinReference",
      "TestSupport"),
    test(
      "FormatTests", "KelvinBasics", "KelvinImport", "KelvinONNX", "KelvinCoreML", "KelvinEngine",
      "KelvinHostOperations",
      "KelvinPasses", "KelvinGraph", "KelvinReference", "TestSupport"),
    test(
      "KelvinCPUTests", "CAllocationCounter", "CKelvinKernels", "CKernelChecks", "KelvinBasics", "KelvinGraph",
      "KelvinDevices", "KelvinConformance", "ConformanceChecks", "KelvinReference", "KelvinCPU", "TestSupport"),
    test(
      "KelvinDevicesTests", "KelvinBasics", "KelvinDevices", "KelvinGraph", "KelvinConformance", "ConformanceChecks",
      "KelvinReference",
      "TestSupport"),
    test("KelvinGPUTests", "KelvinBasics", "KelvinGPU", "KelvinGraph", "KelvinDevices"),
    test(
      "KelvinVulkanTests", "CKelvinShaders", "KelvinBasics", "KelvinVulkan", "KelvinReference", "KelvinGraph",
      "KelvinDevices", "KelvinConformance", "ConformanceChecks", "TestSupport"),
    test(
      "KelvinOpenCLTests", "KelvinBasics", "KelvinOpenCL", "KelvinReference", "KelvinGraph", "KelvinDevices",
      "KelvinConformance", "ConformanceChecks", "TestSupport"),
    test(
      "FaultTests", "CFaultyDrivers", "Kelvin", "KelvinBasics", "KelvinGraph", "KelvinPasses", "KelvinImages",
      "KelvinDevices",
      "KelvinConformance", "ConformanceChecks",
      "KelvinReference", "KelvinCPU", "KelvinVulkan", "KelvinOpenCL", "KelvinPlanning", "KelvinMeasurements",
      "KelvinRuntime", "KelvinFeatures", "KelvinEngine", "TestSupport"
    ),
    test("KelvinPlanningTests", "KelvinBasics", "KelvinPlanning", "TestSupport", computes: true),
    test("KelvinMeasurementsTests", "KelvinBasics", "KelvinMeasurements", "KelvinReport", "TestSupport"),
    test("KelvinThermalTests", "CFakeNVML", "KelvinBasics", "KelvinMeasurements", "KelvinThermal", "TestSupport"),
    test(
      "KelvinReportTests", "KelvinBasics", "KelvinPlanning", "KelvinMeasurements", "KelvinThermal", "KelvinReport",
      "TestSupport"),
    test(
      "KelvinRuntimeTests", "KelvinBasics", "KelvinRuntime", "KelvinGraph", "KelvinPasses", "KelvinDevices",
      "KelvinConformance", "ConformanceChecks",
      "KelvinReference", "KelvinPlanning", "KelvinMeasurements", "TestSupport"),
    test(
      "KelvinProfilerTests", "KelvinBasics", "KelvinProfiler", "KelvinGraph", "KelvinDevices", "KelvinPlanning",
      "KelvinReference",
      "KelvinMeasurements", "KelvinReport", "KelvinRuntime", "KelvinThermal", "TestSupport"),
    test(
      "KelvinStreamsTests", "KelvinBasics", "KelvinStreams", "KelvinGraph", "KelvinDevices", "KelvinPlanning",
      "KelvinMeasurements", "KelvinThermal", "KelvinRuntime", "TestSupport"),
    test(
      "KelvinBenchTests", "KelvinBasics", "KelvinStreams", "KelvinBench", "KelvinProfiler", "KelvinGraph",
      "KelvinDevices",
      "KelvinReference", "KelvinPlanning", "KelvinMeasurements", "KelvinThermal", "KelvinReport", "KelvinRuntime",
      "TestSupport"),
    test(
      "KelvinTests", "Kelvin", "KelvinVision", "KelvinBasics",
      "KelvinGraph",
      "KelvinImport",
      "KelvinPasses", "KelvinDevices", "KelvinConformance", "ConformanceChecks", "KelvinReference", "KelvinRuntime",
      "KelvinPlanning",
      "KelvinImages", "KelvinIsolation", "KelvinEngine", "TestSupport", "KelvinMeasuring", "KelvinTables"),
    test(
      "InterfaceTests", "KelvinGeneration", "Kelvin", "KelvinBasics", "KelvinGraph", "KelvinHostOperations",
      "TestSupport"),
    test(
      "KelvinCompressionTests", "KelvinCompression", "Kelvin", "KelvinBasics", "KelvinGraph", "KelvinReference",
      "TestSupport"),
    test("KelvinPackagingTests", "CKelvinCrypto", "KelvinPackaging", "Kelvin", "KelvinBasics", "TestSupport"),
    test("KelvinStoreTests", "FaultyServer", "KelvinStore", "Kelvin", "TestSupport"),
    test("KelvinTextTests", "KelvinText", "Kelvin", "KelvinBasics", "TestSupport"),
    test(
      "KelvinGenerationTests", "KelvinGeneration", "Kelvin", "KelvinGraph", "KelvinHostOperations", "TestSupport"),
    test(
      "KelvinVisionTests", "KelvinVision", "Kelvin", "KelvinBasics", "KelvinImages", "TestSupport", "KelvinCollections"),
    test(
      "KelvinVideoTests", "FaultyServer", "KelvinVideo", "KelvinGraph", "KelvinImages", "KelvinRuntime", "KelvinEngine",
      "Kelvin", "KelvinMeasuring", "KelvinVision", "TestSupport"),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "CFakeNVML", "CKelvin", "CKelvinSupport", "GraphParsing", "Kelvin", "KelvinC", "KelvinCommands", "KelvinBasics",
        "KelvinBench", "KelvinDevices", "KelvinFeatures", "KelvinCoreML", "KelvinEngine", "KelvinGraph",
        "KelvinHostOperations", "KelvinImages", "KelvinImport", "KelvinIndex", "KelvinIsolation", "KelvinMeasurements",
        "KelvinONNX", "KelvinPasses", "KelvinPlanning", "KelvinProfiler", "KelvinReference", "KelvinRuntime",
        "KelvinText", "KelvinThermal", "KelvinVideo", "KelvinVision", "KelvinCollections", "KelvinPackaging",
      ],
      path: "Tests/FuzzTargets", exclude: ["Seeds"], swiftSettings: strict),
    test("FuzzTargetTests", "FuzzTargets", "TestSupport"),
    test("CommandTests", "FaultyServer", "KelvinBasics", "KelvinImages", "TestSupport"),
  ],
  cLanguageStandard: .gnu2x
)

package.targets.append(
  isFuzzing
    ? .executableTarget(
      name: "Fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])],
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])])
    // Tests do not link it, because they are bound to Swift's shared libraries, and a process can have only one copy of
    // each.
    : .executableTarget(
      name: "KelvinCLI", dependencies: ["KelvinCommands"] + locks, swiftSettings: strict, linkerSettings: standalone))
