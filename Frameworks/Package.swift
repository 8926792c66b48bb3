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
  framework("CoreVideo", kelvin),
  framework("CoreGraphics", "CoreVideo", kelvin),
  framework("ImageIO", "CoreVideo", "CoreGraphics", kelvin),
  framework("CoreImage", "CoreVideo", "CoreGraphics", "ImageIO", kelvin),
  framework("CoreML", "CoreVideo", "CoreGraphics", "ImageIO", kelvin, kelvinMeasuring),
  framework("Vision", "CoreVideo", "CoreGraphics", "ImageIO", "CoreImage", "CoreML", kelvin, kelvinVision),
  framework("Accelerate", "CoreVideo", "CoreGraphics"),
]

let package = Package(
  name: "Frameworks",
  products: frameworks.map { .library(name: $0.name, targets: [$0.name]) }
    // The programs of the tests link it.
    + [.library(name: "KelvinFrameworks", type: .dynamic, targets: frameworks.map(\.name))],
  dependencies: [.package(name: "Kelvin", path: "..")],
  targets: frameworks + [
    .testTarget(
      name: "FrameworksTests",
      dependencies: ["CoreVideo", "CoreGraphics", "ImageIO", "CoreImage", "CoreML", "Vision", "Accelerate"] + [
        kelvin, kelvinMeasuring,
      ],
      swiftSettings: strict)
  ])
