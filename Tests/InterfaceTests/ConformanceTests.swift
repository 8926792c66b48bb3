import TestSupport
import Testing

/// The Python package under other projects' tests and tools, where they are installed.
@Suite struct ConformanceTests {
  private static let root = SharedFiles.projectRoot

  /// Runs the Python that $KELVIN_PYTHON names, the one that `make conformance` makes, or the system's.
  private static func python(_ arguments: String) -> (status: Int32, output: String) {
    Shell.run(
      "python=\"${KELVIN_PYTHON:-\(root)/.build/conformance/bin/python}\"; "
        + "command -v \"$python\" > /dev/null || python=python3; "
        + "KELVIN_PYTHON=\"$python\" KELVIN_LIBRARY='\(Shell.products)/libKelvinC.so' PYTHONPATH='\(root)/Python' "
        + "PYTHONDONTWRITEBYTECODE=1 \"$python\" \(arguments) 2>&1")
  }

  private static func has(_ modules: String) -> Bool {
    python("-c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))' \(modules)")
      .status == 0
  }

  private static let hasCoreMLTools = has("coremltools pytest PIL")
  private static let hasTorch = hasCoreMLTools && has("torch")

  @Test(
    .slow, .enabled(if: hasCoreMLTools, "Python has no coremltools, pytest and Pillow; make conformance installs them"))
  func coreMLToolsTestSamplePassesAsBefore() {
    let result = Self.python("'\(Self.root)/dev/conformance.py' --sample")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(.slow, .enabled(if: hasTorch, "Python has no coremltools and torch; make conformance installs them"))
  func conversionTutorialRuns() {
    let result = Self.python("'\(Self.root)/Tests/Python/test_tutorial.py'")
    #expect(result.status == 0, "\(result.output)")
  }
}
