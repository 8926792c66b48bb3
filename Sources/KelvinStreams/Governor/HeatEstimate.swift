import Glibc
import KelvinThermal

/// The heat of the machine as a governor estimates it: the two-pole model, and the load that is not the stream's own.
///
/// That load has two parts. `others` is the difference between the load of the reports and the stream's expected one:
/// other programs, or plans that draw other than their trial. `unexplained` is the load that would explain the
/// difference between measured and forecast headroom, which corrects errors of the model. So forecasts converge to the
/// measured headroom also where gain and time constants of the machine differ from the model's.
struct HeatEstimate: Sendable, Hashable {
  /// The seconds over which `others` and `unexplained` are averaged. Quantized sensors need the longer time.
  private static let averaging = (others: 10.0, unexplained: 20.0)
  /// The most load by which one report counts: jumps of a sensor are no load.
  private static let mostLoad = 2.0
  /// The seconds over which a peak is forgotten, and the largest that counts.
  private static let (rippleDecay, mostRipple) = (120.0, 0.1)

  private(set) var model: ThermalModel
  private(set) var time: Double
  /// The recent peak of headroom above the one that the mean load explains: the fast path follows frames that take long
  /// or are far apart, and a sensor has steps.
  private(set) var ripple = 0.0
  private let idleWatts: Double
  private let sustainableWatts: Double
  private var others = 0.0
  private var unexplained = 0.0
  /// The rise of the fast path above the one that the mean load explains.
  private var fastExcess = 0.0

  init(_ outlook: ThermalOutlook, at time: Double) {
    model = outlook.model
    self.time = time
    idleWatts = outlook.idleWatts
    sustainableWatts = outlook.sustainableWatts
  }

  /// Whether this estimate can continue with a report: it is of the same machine, and neither older nor much younger.
  func precedes(_ report: ThermalReport, _ outlook: ThermalOutlook, longestSilence: Double) -> Bool {
    report.at >= time && report.at - time <= longestSilence && outlook.idleWatts == idleWatts
      && outlook.sustainableWatts == sustainableWatts && outlook.model.fast == model.fast
      && outlook.model.slow == model.slow
  }

  /// Advances to a report.
  ///
  /// - Parameter watts: the stream's expected power above idle since the previous report.
  mutating func advance(to report: ThermalReport, load measured: Double?, watts: Double) {
    let seconds = report.at - time
    guard seconds > 0 else { return }
    time = report.at
    let expected = (idleWatts + watts) / sustainableWatts
    let present = measured ?? expected + others
    model.advance(by: seconds, load: present + unexplained)
    let missing = model.correct(toHeadroom: report.headroom, byLoadDuring: seconds)
    func share(_ averaging: Double) -> Double { 1 - exp(-seconds / averaging) }
    fastExcess += share(model.fast.tau) * (present + missing - expected - others - fastExcess)
    ripple += share(Self.rippleDecay) * -ripple
    ripple = min(max(ripple, model.fast.weight * fastExcess), Self.mostRipple)
    unexplained += share(Self.averaging.unexplained) * min(max(missing, -Self.mostLoad), Self.mostLoad)
    if let measured, measured.isFinite {
      others += share(Self.averaging.others) * (measured - expected - others)
    }
  }

  /// Returns the load of the machine while the stream draws `watts` above idle.
  func load(watts: Double) -> Double { (idleWatts + watts) / sustainableWatts + others + unexplained }

  /// Returns the power above idle with which the stream causes a load of the machine; negative if there is none.
  func watts(load: Double) -> Double { (load - others - unexplained) * sustainableWatts - idleWatts }
}
