import KelvinMeasurements
import KelvinThermal
import TestSupport
import Testing

@Suite("Envelopes by name")
struct EnvelopeNameTests {
  @Test("every shipped envelope is found by its name, wherever the binary lies, and equals its file")
  func shipped() throws {
    let files = SystemFiles(root: SharedFiles.projectRoot)
    let names = files.names(in: "Profiles/thermal").map { String($0.dropLast(".json".count)) }
    #expect(Set(ThermalEnvelope.shipped.map(\.name)) == Set(names))
    for name in names {
      let path = "\(SharedFiles.projectRoot)/Profiles/thermal/\(name).json"
      #expect(try ThermalEnvelope(named: name) == ThermalEnvelope(named: path))
    }
  }

  @Test("an unknown name lists the known ones; a file that is not there says so")
  func unknown() throws {
    let error = #expect(throws: MeasurementError.self) { try ThermalEnvelope(named: "watch") }
    #expect(error?.description.contains("phone, fanless-board, fanless-laptop, laptop, desktop, server") == true)
    let absent = #expect(throws: MeasurementError.self) { try ThermalEnvelope(named: "/nowhere/at/all.json") }
    #expect(absent?.description == "/nowhere/at/all.json: cannot be read: No such file or directory")
  }
}
