import KelvinBasics

/// The tick labels of an axis below charts.
enum AxisScale {
  /// Returns the axis below charts with a column of labels and a column of plots.
  static func below(_ axis: ChartAxis) -> Markup {
    """
    <div class="grid2" aria-hidden="true"><span></span><svg width="100%" height="18">\(texts(axis, y: 14))</svg></div>
    """
  }

  /// Returns labels positioned at shares of the width. Every other label is hidden on a phone.
  static func texts(_ axis: ChartAxis, y: Double) -> [Markup] {
    axis.ticks.enumerated().map { number, tick in
      let anchor: Markup = number == 0 ? "start" : number == axis.ticks.count - 1 ? "end" : "middle"
      let odd: Markup = number.isMultiple(of: 2) ? "" : " class=\"odd\""
      return """
        <text\(odd) x="\(share: axis.share(tick))" y="\(y)" text-anchor="\(anchor)">\
        \(HumanReadable.seconds(tick))</text>
        """
    }
  }
}
