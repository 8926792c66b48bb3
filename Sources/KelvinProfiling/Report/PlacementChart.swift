/// A column for each layer and a lane for each device: filled where the layer runs, outlined where it could, crossed
/// where it cannot. Bars above give the cost where it runs; arrows between lanes are transfers.
enum PlacementChart {
  private static let left = 96.0
  private static let barTop = 26.0
  private static let barHeight = 70.0
  private static let laneHeight = 34.0

  static func draw(_ placement: ReportPlacement, devices: [String], _ palette: ReportPalette) -> Markup {
    let nodes = Array(placement.nodes.prefix(PlacementSection.mostLayers))
    guard !nodes.isEmpty, !devices.isEmpty else { return "" }
    let column = min(max(920 / Double(nodes.count), 9), 26)
    let top = barTop + barHeight + 14
    let width = left + column * Double(nodes.count) + 12
    let height = top + laneHeight * Double(devices.count) + 26
    let axis = ChartAxis(upTo: nodes.compactMap(\.seconds).max() ?? 0, about: 2)
    let lane = Dictionary(devices.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

    var marks: [Markup] = axis.ticks.map { tick in
      let y = barTop + barHeight - axis.position(tick, from: 0, length: barHeight)
      return """
        <line class="grid" x1="\(left)" x2="\(width - 12)" y1="\(y)" y2="\(y)"/>\
        <text x="\(left - 8)" y="\(y + 4)" text-anchor="end">\(HumanReadable.seconds(tick))</text>
        """
    }
    for (number, device) in devices.enumerated() {
      let y = top + laneHeight * Double(number)
      marks.append(
        """
        <line class="grid" x1="0" x2="\(width - 12)" y1="\(y)" y2="\(y)"/>\
        <text class="strong" x="0" y="\(y + laneHeight / 2 + 4)">\(device)</text>
        """)
    }
    for (number, node) in nodes.enumerated() {
      let x = left + column * Double(number)
      marks.append(bar(node, x: x, column: column, axis: axis, palette))
      for device in devices {
        let y = top + laneHeight * Double(lane[device] ?? 0)
        marks.append(cell(node, device: device, x: x, y: y, column: column, palette))
      }
      for transfer in node.transfers {
        guard let from = lane[transfer.from], let to = lane[transfer.to] else { continue }
        let start = top + laneHeight * (Double(from) + 0.5)
        let end = top + laneHeight * (Double(to) + 0.5)
        let cost = "\(HumanReadable.bytes(transfer.bytes)), \(HumanReadable.seconds(transfer.seconds))"
        let label = "\(transfer.value): \(transfer.from) → \(transfer.to), \(cost)"
        marks.append(
          """
          <line x1="\(x)" x2="\(x + 1)" y1="\(start)" y2="\(end)" style="stroke:var(--ink)" stroke-width="1.6" \
          marker-end="url(#arrow)"><title>\(label)</title></line>
          """)
      }
    }
    let bottom = height - 8
    let caption = "\(nodes.count) layers in order; \(placement.units)"
    return """
      <div class="scroll"><svg class="matrix" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      role="img" aria-label="Placement of \(caption)"><text x="0" y="12">cost where it runs</text>\(marks)\
      <text x="\(left)" y="\(bottom)">filled: runs here · outlined: could · ×: cannot · arrow: transfer · \
      bar with dashed edge: estimated</text></svg></div>
      """
  }

  private static func bar(
    _ node: ReportNode, x: Double, column: Double, axis: ChartAxis, _ palette: ReportPalette
  ) -> Markup {
    guard let seconds = node.seconds else { return "" }
    let height = max(axis.position(seconds, from: 0, length: barHeight), 1)
    let isMeasured = node.candidates.first { $0.device == node.device }?.isMeasured ?? false
    let style: Markup =
      isMeasured
      ? palette.fill(node.device)
      : "fill:none;stroke:\(palette.colour(node.device));stroke-dasharray:2 2;stroke-width:1.5"
    let label = "\(node.name) (\(node.op)) on \(node.device): \(HumanReadable.seconds(seconds))"
    return """
      <rect x="\(x + 1)" y="\(barTop + barHeight - height)" width="\(column - 2)" height="\(height)" style="\(style)">\
      <title>\(label)</title></rect>
      """
  }

  private static func cell(
    _ node: ReportNode, device: String, x: Double, y: Double, column: Double, _ palette: ReportPalette
  ) -> Markup {
    let candidate = node.candidates.first { $0.device == device }
    if device == node.device {
      return """
        <rect x="\(x + 0.5)" y="\(y + 5)" width="\(column - 1)" height="\(laneHeight - 10)" rx="2" \
        style="\(palette.fill(device))"><title>\(node.name) (\(node.op)) runs on \(device): \
        \(node.reason)</title></rect>
        """
    }
    let centre = x + column / 2
    let middle = y + laneHeight / 2
    if let seconds = candidate?.seconds {
      let side = min(column - 3, 9)
      return """
        <rect x="\(centre - side / 2)" y="\(middle - side / 2)" width="\(side)" height="\(side)" rx="2" \
        style="fill:none;stroke:\(palette.colour(device))"><title>\(node.name) on \(device) would take \
        \(HumanReadable.seconds(seconds))</title></rect>
        """
    }
    return """
      <path d="M\(centre - 3) \(middle - 3)L\(centre + 3) \(middle + 3)M\(centre + 3) \(middle - 3)L\(centre - 3) \
      \(middle + 3)" style="stroke:var(--soft)" stroke-width="1.3"><title>\(node.name) cannot run on \(device): \
      \(candidate?.unsupported ?? "not considered")</title></path>
      """
  }
}
