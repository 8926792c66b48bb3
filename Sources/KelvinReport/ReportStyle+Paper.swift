extension ReportStyle {
  /// The style for paper: A4 portrait by default. Content is fitted to the page's width, plans are expanded, repeated
  /// layers are printed once, and interactive elements are hidden.
  static let paper: Markup = """
    @page{size:A4;margin:13mm 12mm}
    @media print{:root{color-scheme:light;--bg:#fff;--p0:var(--d0);--p1:var(--d1);--p2:var(--d2);--p3:var(--d3);\
    --p4:var(--d4);--p5:var(--d5);--wait:#d9d9d6}
    *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
    body{font-size:10.5pt;line-height:1.4}main{max-width:none;padding:0}
    h1{font-size:20pt}h2{font-size:14pt;margin:22px 0 6px;break-after:avoid}h3,h2+p{break-after:avoid}small{font-size:8.5pt}
    .verdict{margin:14px 0 10px;padding:12px 0}.verdict p{font-size:14pt;max-width:none}.verdict ul{max-width:none}
    .tools,nav,.inspector,.rest,.all,.all+label,.more{display:none}
    .tall,.canvas,.scroll{max-height:none;overflow:visible}
    .panel{padding:10px 12px;margin:8px 0}.panel,.piece,tr,.plot,.grid2{break-inside:avoid}
    .placement,.panel:has(table){break-inside:auto}thead{display:table-header-group}
    .facts{gap:6px 24px}.facts dd{font-size:11pt}
    table{font-size:8.5pt}th,td{padding:4px 5px;white-space:normal}thead th{font-size:8pt}td small,th small{font-size:7.5pt}
    .cards tbody th{width:26%}
    .layers th,.layers td{padding:2px 5px}.layers tbody th br{display:none}.layers tbody th small{margin-left:6px}\
    .layers .chip svg{width:12px;height:12px}.layers .no{font-size:7.5pt}.layers .bar{margin-top:1px;height:3px}
    .layers tbody th,.layers thead th,.tall thead th{position:static;max-width:none}.layers tbody th{width:34%}
    wbr{display:inline}.wrap,.no{min-width:0}.chip{white-space:nowrap}svg text{font-size:10px}
    .plot .axis{position:static}.plot .chart{flex:0 1 auto;min-width:0}
    .flow{zoom:.75}}
    """
}
