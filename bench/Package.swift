// swift-tools-version: 6.2
import PackageDescription

/// Programs that scripts of this folder time: `swift build -c release --package-path bench --scratch-path .build`.
func bench(_ name: String, _ modules: String...) -> Target {
  .executableTarget(
    name: name, dependencies: modules.map { .product(name: $0, package: "Kelvin") }, path: name,
    swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
}

let frameworks = bench("FrameworksBench", "Kelvin", "KelvinVision")
frameworks.dependencies += ["CoreML", "CoreVideo", "Vision"].map { .product(name: $0, package: "Frameworks") }

let package = Package(
  name: "KelvinBenches",
  dependencies: [.package(name: "Kelvin", path: ".."), .package(name: "Frameworks", path: "../Frameworks")],
  targets: [
    frameworks,
    bench("ImageBench", "Kelvin", "KelvinVision"),
    bench("SizeBench", "Kelvin"),
  ])
