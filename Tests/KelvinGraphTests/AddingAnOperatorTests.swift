import Glibc
import TestSupport
import Testing

/// The package's folder, from the path of this file.
private let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

private let hasCompilers = system("command -v swiftc clang > /dev/null") == 0

@Suite struct AddingAnOperatorTests {
  @Test(.slow, .enabled(if: hasCompilers, "swiftc and clang are not on the path"))
  func documentedStepsGiveAnOperatorThatCompiles() {
    #expect(system("'\(root)/dev/check-new-operator.sh'") == 0, "its complaints stand above")
  }
}
