// swift-tools-version: 6.2
import PackageDescription

/// Apple's module names on Linux, for programs that are written for Core ML and Vision. Each type wraps or is one of
/// Kelvin's. Built beside Kelvin: `swift build -c release --package-path Frameworks --scratch-path .build`.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let kelvin: Target.Dependency = .product(name: "Kelvin", package: "Kelvin")
let kelvinMeasuring: Target.Dependency = .product(name: "KelvinMeasuring", package: "Kelvin")
let kelvinVision: Target.Dependency = .product(name: "KelvinVision", package: "Kelvin")

func framework(_ name: String, _ needs: Target.Dependency...) -> Target {
  .target(name: name, dependencies: needs, swiftSettings: strict)
}

/// One row for each module, lowest layer first: a row may name only rows above it.
let frameworks = [
  framework("_Testing_CoreGraphics"),
  framework("_Testing_CoreImage"),
  framework("CoreVideo", kelvin),
  framework("CoreGraphics", "_Testing_CoreGraphics", "CoreVideo", kelvin),
  framework("ImageIO", "CoreVideo", "CoreGraphics", kelvin),
  framework("CoreImage", "_Testing_CoreImage", "CoreVideo", "CoreGraphics", "ImageIO", kelvin),
  framework("CoreML", "CoreVideo", "CoreGraphics", "ImageIO", kelvin, kelvinMeasuring),
  framework("Vision", "CoreVideo", "CoreGraphics", "ImageIO", "CoreImage", "CoreML", kelvin, kelvinVision),
  framework("Accelerate", "CoreVideo", "CoreGraphics"),
]

/// Whether the Makefile builds. The tests then link programs with a library of all modules. SwiftPM refuses a required
/// package with unsafe flags, so that a program that requires these modules gets neither.
let isTesting = Context.environment["KELVIN_HARDENED"] != nil

let package = Package(
  name: "Frameworks",
  products: frameworks.filter { !$0.name.hasPrefix("_") }.map { .library(name: $0.name, targets: [$0.name]) }
    + (isTesting ? [.library(name: "KelvinFrameworks", type: .dynamic, targets: ["ProgramLibrary"])] : []),
  dependencies: [.package(name: "Kelvin", path: "..")],
  targets: frameworks)

if isTesting {
  package.targets += [
    .target(
      name: "ProgramLibrary", dependencies: frameworks.map { .target(name: $0.name) }, path: "Tests/ProgramLibrary",
      swiftSettings: strict,
      // The archives of zlib and OpenSSL are for programs: their symbols must stay within the library.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--exclude-libs=ALL"])]),
    .testTarget(
      name: "FrameworksTests",
      dependencies: frameworks.map { .target(name: $0.name) } + [kelvin, kelvinMeasuring], swiftSettings: strict),
  ]
}
