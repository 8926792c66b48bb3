import KelvinBasics
import KelvinMeasurements

/// A breakdown of the time of one inference with layer timers. The parts of each row add up to its end-to-end time.
enum AccountChart {
  static func section(_ input: ReportInput) -> Markup {
    let accounts = input.accounts.filter { $0.account.total.isFinite && $0.account.total > 0 }
    guard !accounts.isEmpty || !input.checks.isEmpty else { return "" }
    return """
      <section id="account"><h2>Time breakdown</h2>\(accounts.isEmpty ? "" : legend)\
      \(accounts.isEmpty ? "" : chart(accounts))\
      \(checks(input.checks))</section>
      """
  }

  private static let legend: Markup =
    "<p class=\"soft\"><small>Of a run with a timer at each layer. The timers take time themselves.</small></p>"

  private static func chart(_ accounts: [(units: String, account: Account)]) -> Markup {
    let axis = ChartAxis(upTo: accounts.map(\.account.total).max() ?? 0, about: 4)
    let names = ["layers", "copies", "waits", "residual"]
    let rows: [Markup] = accounts.map { units, account in
      let parts = [account.layers, account.transfers, account.waits, account.residual]
      let bars = ConfigurationChart.stack(
        zip(names, parts).enumerated().map { number, part in
          let share = HumanReadable.percent(part.1 / account.total)
          return (number, part.1, "\(part.0): \(HumanReadable.seconds(part.1)), \(share)")
        }, axis)
      let sums = zip(names, parts).map { "\($0) \(HumanReadable.seconds($1))" }.joined(separator: " + ")
      let share = HumanReadable.percent(account.residual / account.total)
      return """
        <div class="row"><span class="name">\(units)</span><svg width="100%" height="30">\
        \(ConfigurationChart.grid(axis, height: 30))\(bars)</svg><b>\(HumanReadable.seconds(account.total))</b></div>\
        <p class="sum"><small>\(sums) (\(share))</small></p>
        """
    }
    return """
      <div class="panel rows">\(rows)\(ConfigurationChart.scale(axis))<p class="key">\(ConfigurationChart.key(names))</p></div>
      """
  }

  /// Returns the table of predictions and measurements.
  private static func checks(_ checks: [PlanCheck]) -> Markup {
    guard !checks.isEmpty else { return "" }
    let rows: [Markup] = checks.map { check in
      let error = check.measured > 0 ? HumanReadable.percent(check.predicted / check.measured - 1) : "—"
      let (lower, upper) = (HumanReadable.seconds(check.interval.lower), HumanReadable.seconds(check.interval.upper))
      let remark: Markup = check.isUndisturbed ? "" : "<br><small>disturbed by others</small>"
      return """
        <tr><th scope="row">\(check.label)</th><td>\(HumanReadable.seconds(check.predicted))</td>\
        <td>\(HumanReadable.seconds(check.measured))<br><small>\(lower) to \(upper)</small></td><td>\(error)\(remark)</td>\
        <td>\(check.samples)</td></tr>
        """
    }
    return """
      <div class="panel"><h3>Plans that were predicted, then run</h3><div class="scroll" tabindex="0" role="group" \
      aria-label="Predictions"><table><thead><tr><th scope="col">Plan</th><th scope="col">Predicted</th>\
      <th scope="col">Measured</th><th scope="col">Off by</th><th scope="col">n</th></tr></thead>\
      <tbody>\(rows)</tbody></table></div></div>
      """
  }
}

extension Account {
  /// The sum of the parts, as the chart draws them.
  fileprivate var total: Double { layers + transfers + waits + residual }
}
