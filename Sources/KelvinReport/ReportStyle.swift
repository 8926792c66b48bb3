/// The report's style sheet, which does not depend on any input.
enum ReportStyle {
  static let css: Markup = "\(colours)\(patterns)\(text)\(tables)\(charts)\(graph)\(media)\(paper)"

  /// The style sheet of pages without layers and latencies: text and tables, for screens, phones and paper.
  static let words: Markup = "\(colours)\(text)\(tables)\(media)\(paper)"

  /// The style sheet of pages with charts over time, without patterns and graphs.
  static let plots: Markup = "\(colours)\(text)\(tables)\(charts)\(media)\(paper)"

  static let colours: Markup = """
    :root{color-scheme:light dark;--z:1;--bg:#fbfaf8;--panel:#fff;--ink:#16191d;--soft:#5b6470;--line:#e2e1dd;\
    --link:#9aa1aa;--accent:#0b5fa5;--hatch:#ffffff9a;--tint:#eef4fa;--d0:#0072b2;--d1:#e08a00;--d2:#4b1d5c;\
    --d3:#58b98f;--d4:#cc3d55;--d5:#8b93a1;--t0:#dcebe1;--t1:#f3df9f;--t2:#eeb183;--t3:#b33a3a;--t3ink:#fff}
    @media(prefers-color-scheme:dark){:root{--bg:#101317;--panel:#171b21;--ink:#e9ecef;--soft:#9aa5b1;--line:#2a3038;\
    --link:#66707c;--accent:#6db5f0;--hatch:#10131780;--tint:#1a2733;--d0:#3f9be0;--d1:#f2b33d;--d2:#efe0ff;\
    --d3:#2e9468;--d4:#e8596f;--d5:#838d9b;--t0:#1f3a2c;--t1:#5f5019;--t2:#84491c;--t3:#c94b4b;--t3ink:#fff}}
    """

  /// The patterns of `ReportPalette.definitions`.
  private static let patterns: Markup = """
    :root{--p0:url(#p0);--p1:url(#p1);--p2:url(#p2);--p3:url(#p3);--p4:url(#p4);--p5:url(#p5);--wait:url(#wait)}
    """

  static let text: Markup = """
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,\
    "Noto Sans",sans-serif;-webkit-text-size-adjust:100%;font-feature-settings:"kern"}
    main{max-width:1200px;margin:0 auto;padding:48px 24px 72px}
    h1{font-size:34px;line-height:1.15;letter-spacing:-.02em;margin:0 0 6px;overflow-wrap:anywhere}
    h2{font-size:23px;line-height:1.25;letter-spacing:-.01em;margin:64px 0 10px}
    h3{font-size:15px;margin:0 0 10px}h3 small,summary small{font-weight:400}
    p{margin:6px 0}small,.soft{color:var(--soft)}small{font-size:13px}section>.soft{max-width:75ch}
    .verdict{margin:32px 0 24px;padding:24px 0 20px;border-top:2px solid var(--ink);border-bottom:1px solid var(--line)}
    .verdict h2{font-size:13px;letter-spacing:.06em;text-transform:uppercase;margin:0 0 8px;color:var(--accent)}
    .verdict p{font-size:24px;line-height:1.35;letter-spacing:-.01em;margin:0;max-width:40em;text-wrap:pretty}
    .verdict ul{margin:12px 0 0;padding:0;list-style:none;max-width:75ch}
    .verdict li{margin:4px 0;color:var(--soft)}
    .picks{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:14px 28px;margin:4px 0 10px}
    .pick h3{margin:0 0 4px}.verdict .pick p{font-size:15px;line-height:1.45;letter-spacing:0}
    .verdict .panel p{font-size:13px;line-height:1.5;letter-spacing:0;max-width:none}
    nav{display:flex;flex-wrap:wrap;gap:4px 20px;font-size:14px}a{color:var(--accent)}nav a{text-decoration:none}
    nav a:hover{text-decoration:underline}
    .panel{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:14px 0}
    .scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}
    :focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
    .chip{display:inline-flex;align-items:center;gap:7px;white-space:nowrap}.chip svg,.badge{flex:none}
    .legend,.key{display:flex;flex-wrap:wrap;gap:6px 20px;font-size:14px;margin:8px 0 14px}
    .key{font-size:13px;color:var(--soft);margin:10px 0 0}\
    .key span,.legend>span{display:inline-flex;align-items:center;gap:6px}
    .tag{display:inline-block;font-size:12px;font-weight:600;border-radius:9px;padding:0 8px;background:var(--accent);\
    color:var(--bg);white-space:nowrap}
    .facts{display:flex;flex-wrap:wrap;gap:10px 32px;margin:10px 0 14px}.facts dt{font-size:13px;color:var(--soft)}
    .facts dd{margin:0;font-size:18px;font-weight:600;font-variant-numeric:tabular-nums}
    details>summary{cursor:pointer;font-size:17px;font-weight:600}
    .tools{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;margin:12px 0;font-size:14px}
    .tools[hidden]{display:none}
    input,button{font:inherit;color:inherit}
    input[type=search],button{background:var(--bg);border:1px solid var(--line);border-radius:7px;padding:5px 11px}
    button{cursor:pointer;min-width:36px}button:hover{border-color:var(--soft)}\
    input[type=search]{width:240px;min-width:0}
    .actions{margin:12px 0 0;padding-left:24px;font-size:14px}
    footer{margin-top:64px;border-top:1px solid var(--line);padding-top:12px}.notes{max-width:80ch;padding-left:20px}
    """

  static let tables: Markup = """
    table{border-collapse:collapse;width:100%;font-size:14.5px;font-variant-numeric:tabular-nums}
    th,td{padding:9px 8px;text-align:right;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
    thead th{font-size:13px;font-weight:600;color:var(--soft);vertical-align:bottom}
    tbody th{font-weight:400}
    th:first-child,.left{text-align:left}
    tr:last-child>*{border-bottom:0}
    .wrap{white-space:normal;min-width:170px}
    tr.best>*{background:var(--tint)}
    .bar{display:block;height:4px;border-radius:2px;margin:4px 0 0 auto;min-width:2px}
    .chosen{font-weight:700}.no{color:var(--soft);font-size:13px;white-space:normal;min-width:120px}
    .est{font-style:italic}.est .bar{opacity:.5}
    .state{display:inline-block;border-radius:5px;padding:0 8px;font-size:13px}
    .s0{background:var(--t0)}.s1{background:var(--t1)}.s2{background:var(--t2)}\
    .s3{background:var(--t3);color:var(--t3ink)}
    .layers tbody th,.layers thead th:first-child{position:sticky;left:0;background:var(--panel);z-index:1;\
    max-width:260px;overflow:hidden;text-overflow:ellipsis}
    .tall{max-height:560px;overflow:auto}.tall thead th{position:sticky;top:0;background:var(--panel);z-index:2}
    .tall thead th:first-child{z-index:3}
    .layers .region th{position:static;max-width:none;background:var(--tint);font-weight:600;overflow:visible;\
    white-space:normal}
    .layers .inside tr[data-moves] th{padding-left:20px}
    .layers .more{display:none}.all:checked~.scroll .more,.filtered .more,.layers .more:has(:target)\
    {display:table-row-group}
    .layers tr:target>*,.layers tr.on>*{background:var(--tint)}
    """

  private static let charts: Markup = """
    svg{display:block}svg text{fill:var(--soft);font-size:12px;font-family:inherit;font-variant-numeric:tabular-nums}
    .defs{position:absolute}.chip svg,.key svg,.badge{display:inline-block}
    svg .strong{fill:var(--ink);font-weight:600}
    svg .mark{fill:#fff;font-size:11px;font-weight:700;text-anchor:middle;paint-order:stroke;stroke:#000b;\
    stroke-width:2px;stroke-linejoin:round}
    svg .inbar{fill:#fff;font-size:11.5px;paint-order:stroke;stroke:#000a;stroke-width:2.5px}
    .grid{stroke:var(--line);stroke-width:1}.moving{fill:var(--ink)}
    .grid2{display:grid;grid-template-columns:84px 1fr}.grid2>svg{overflow:visible}
    .plot{display:flex;position:relative;margin-top:18px}.plot .axis{position:sticky;left:0;flex:none;z-index:1;\
    background:var(--panel)}.plot .chart{flex:none}
    .dot{stroke-width:1.4}.cannot{stroke:var(--soft);stroke-width:1.4;fill:none}
    rect.inside{fill:var(--tint);stroke:var(--soft);stroke-dasharray:4 2}
    .hit{fill:transparent}.hit:hover,.hit.on{fill:var(--ink);fill-opacity:.09}
    .rows .row{display:grid;grid-template-columns:minmax(110px,200px) 1fr 84px;gap:14px;align-items:center;\
    font-size:14.5px;font-variant-numeric:tabular-nums}.row b{text-align:right}.row .name{overflow-wrap:anywhere}
    .rows .scale{margin-top:2px}.row svg{overflow:visible}.sum{margin:-4px 0 8px}
    .tail90,.tail99,.tick{stroke:var(--soft);stroke-width:1.5}.tail99{stroke-opacity:.45}.tail90{stroke-width:3}
    .interval{stroke:var(--ink);stroke-width:9;stroke-opacity:.35}.median{fill:var(--ink)}
    .best .median{fill:var(--accent)}.best .interval{stroke:var(--accent)}
    .part{fill:var(--accent);stroke:var(--panel);stroke-width:1}.part1{fill-opacity:.55}.part2{fill-opacity:.3}.part3{fill-opacity:.15}
    .part3{fill:var(--wait);stroke:var(--soft)}
    .band{fill:var(--accent);fill-opacity:.2}.curve{fill:none;stroke:var(--accent);stroke-width:2}
    .fit{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-dasharray:6 5}
    .headroom{fill:none;stroke:var(--ink);stroke-width:1.8}.limit{stroke:var(--ink);stroke-dasharray:2 3}
    .curve,.fit,.headroom{vector-effect:non-scaling-stroke}
    .state0{fill:var(--t0)}.state1{fill:var(--t1)}.state2{fill:var(--t2)}.state3{fill:var(--t3)}
    svg .in0,svg .in1,svg .in2{fill:var(--ink)}svg .in3{fill:var(--t3ink)}
    .disturbed{opacity:.4}.action{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:3 3}
    circle.pin{fill:var(--ink)}text.pin{fill:var(--bg);font-size:10px;font-weight:700;text-anchor:middle}
    .flowline{stroke:var(--soft);stroke-width:1}
    """

  private static let graph: Markup = """
    .canvas{overflow:auto;max-height:760px;padding:4px 0}.flow{font-size:0;line-height:0}
    .piece{display:inline-block;margin:4px 0;overflow:visible}
    .piece text{font-size:10.5px}.piece .op{fill:var(--ink);font-weight:600;font-size:11.5px}
    .piece .long{font-size:9.5px}.piece .mark{font-size:11px}
    .link{fill:none;stroke:var(--link);stroke-width:1.4}.move{fill:none;stroke:var(--ink);stroke-width:2.6}
    .body{fill:var(--panel);stroke:var(--line)}.share{fill:var(--ink);fill-opacity:.75}
    .inside .body{stroke:var(--soft);stroke-dasharray:4 2}.compact .inside rect:first-child{stroke:var(--soft);\
    stroke-dasharray:3 2}
    .transfer path{fill:var(--ink)}.piece .cost{fill:var(--ink);font-weight:600;font-size:10.5px}
    .port circle{fill:var(--panel);stroke:var(--soft);stroke-width:1.6}
    .node{outline:none;cursor:pointer}\
    .node:hover .body,.node:focus .body,.node.on .body{stroke:var(--ink);stroke-width:3}
    .compact .node:hover rect:first-child,.compact .node:focus rect:first-child,.compact .node.on rect:first-child\
    {stroke:var(--ink);stroke-width:2.5}
    wbr{display:none}
    .block{border:1px dashed var(--soft);border-radius:8px;padding:6px 12px;margin:6px 0}.block>p{font-size:14px}
    .rest>summary{font-size:14px;font-weight:400}
    .inspector{border:1px solid var(--line);border-left:4px solid var(--accent);border-radius:8px;padding:14px 18px;\
    margin:14px 0;background:var(--tint)}.inspector[hidden]{display:none}
    .inspector dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;margin:0;font-size:14.5px}
    .inspector dt{color:var(--soft)}.inspector dd{margin:0}.inspector .bar{margin-left:0;max-width:420px}
    .inspector .title{font-weight:600;font-size:16px;margin:0 0 8px;overflow-wrap:anywhere}
    """

  private static let media: Markup = """
    @media(max-width:700px){main{padding:24px 14px 48px}h1{font-size:26px}h2{font-size:20px;margin-top:44px}
    .verdict{padding:18px 0 16px;margin:22px 0 18px}.verdict p{font-size:19px}.panel{padding:14px 12px}
    .cards thead{display:none}.cards tr{display:block;border:1px solid var(--line);border-radius:8px;margin:0 0 12px;\
    padding:6px 0}.cards td,.cards tbody th{display:flex;justify-content:space-between;gap:16px;white-space:normal;\
    border:0;padding:4px 12px;text-align:right}.cards tbody th{font-size:16px;text-align:left}
    .cards td::before{content:attr(data-label);color:var(--soft);text-align:left;flex:none}
    .cards td>div{max-width:70%}.layers tbody th,.layers thead th:first-child{max-width:150px}
    .rows .row{grid-template-columns:1fr 76px}.rows .row .name{grid-column:1/3;margin-bottom:-8px}
    .rows .scale .name,.rows .scale span:first-child{display:none}.sum{margin-top:2px}
    .grid2{grid-template-columns:76px 1fr}.cards .none{display:none}.odd,.inbar{display:none}.canvas{max-height:520px}
    .inspector dl{grid-template-columns:1fr}.inspector dd{margin-bottom:6px}
    .plot .axis{width:92px}}
    @media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
    """
}
