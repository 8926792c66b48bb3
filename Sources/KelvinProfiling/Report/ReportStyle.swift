/// The report's style sheet and script. No input goes into either.
enum ReportStyle {
  static let css: Markup = """
    :root{color-scheme:light dark;--bg:#f6f5f2;--panel:#fff;--ink:#1b1f24;--soft:#5a636e;--line:#dfe1e5;\
    --accent:#0b5fa5;--hatch:#ffffffb0;--tint:#eef4fa;--d0:#0072b2;--d1:#d98200;--d2:#00896a;--d3:#b5508a;\
    --d4:#c04a00;--d5:#4b9fd8;--t0:#cfe3d6;--t1:#f2d98b;--t2:#e79a5b;--t3:#b33a3a;--t3ink:#fff}
    @media(prefers-color-scheme:dark){:root{--bg:#121519;--panel:#1a1e24;--ink:#e7eaee;--soft:#9aa5b1;--line:#2f363f;\
    --accent:#6db5f0;--hatch:#12151999;--tint:#1b2733;--d0:#4aa3df;--d1:#f0b03a;--d2:#2cc29a;--d3:#dd8fbd;--d4:#f08045;\
    --d5:#9bd2f5;--t0:#2c4a3a;--t1:#7a6420;--t2:#a35a21;--t3:#c94b4b;--t3ink:#fff}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,\
    "Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
    main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
    h1{font-size:22px;margin:0 0 2px}h2{font-size:17px;margin:36px 0 10px}h3{font-size:15px;margin:18px 0 6px}
    p{margin:6px 0}small,.soft{color:var(--soft)}small{font-size:12.5px}
    .verdict{background:var(--tint);border-left:5px solid var(--accent);border-radius:6px;padding:16px 20px;\
    margin:18px 0}
    .verdict p:first-child{font-size:20px;line-height:1.35;font-weight:600;margin:0}
    .verdict ul{margin:8px 0 0;padding-left:20px}
    .panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:14px 16px;margin:10px 0}
    .scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}
    table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
    th,td{padding:7px 8px;text-align:right;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
    th{font-size:12.5px;font-weight:600;color:var(--soft);text-align:right;vertical-align:bottom}
    th:first-child,td:first-child,.left{text-align:left}
    tr:last-child td{border-bottom:0}
    .wrap{white-space:normal;min-width:150px}
    tr.best td{background:var(--tint)}
    .tag{display:inline-block;font-size:11px;font-weight:600;border:1px solid currentColor;border-radius:9px;\
    padding:0 7px;color:var(--accent);white-space:nowrap}
    .chip{display:inline-flex;align-items:center;gap:6px;white-space:nowrap}
    .legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px;margin:4px 0 10px}
    .legend small{margin-left:2px}
    .chosen{font-weight:700}.no{color:var(--soft);font-size:12.5px;white-space:normal;min-width:110px}
    .est{font-style:italic}
    .defs{position:absolute}
    svg text{fill:var(--soft);font-size:11px;font-family:inherit}
    svg .strong{fill:var(--ink);font-weight:600;font-size:12px}
    svg .inbar{fill:#fff;font-size:11px;paint-order:stroke;stroke:#0009;stroke-width:2.5px}
    .chart{display:block;min-width:820px;width:100%;height:auto}
    .matrix{display:block}
    .panel>h3:first-child{margin-top:2px}h3 small,summary small{font-weight:400}
    .grid{stroke:var(--line);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}
    .bar{height:5px;border-radius:3px;background:var(--accent);margin-top:3px;margin-left:auto;min-width:2px}
    details>summary{cursor:pointer;padding:4px 0;font-weight:600}
    .facts{display:flex;flex-wrap:wrap;gap:6px 26px;margin:6px 0 12px}
    .facts b{display:block;font-size:17px;font-weight:600}
    .tools{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;margin:10px 0;font-size:13.5px}
    input[type=search]{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:6px;\
    padding:5px 9px;min-width:0;width:220px}
    .state{display:inline-block;border-radius:4px;padding:0 7px;font-size:12.5px;color:var(--ink)}
    .s0{background:var(--t0)}.s1{background:var(--t1)}.s2{background:var(--t2)}
    .s3{background:var(--t3);color:var(--t3ink)}
    .layers td:first-child,.layers th:first-child{position:sticky;left:0;background:var(--panel);z-index:1;\
    max-width:240px;overflow:hidden;text-overflow:ellipsis}
    .tall{max-height:560px;overflow:auto}.tall th{position:sticky;top:0;background:var(--panel);z-index:2}
    .tall th:first-child{z-index:3}
    @media(max-width:700px){main{padding:16px 12px 40px}.verdict p:first-child{font-size:18px}
    .cards thead{display:none}.cards tr{display:block;border:1px solid var(--line);border-radius:8px;margin:0 0 10px;\
    padding:4px 0}.cards td{display:flex;justify-content:space-between;gap:16px;white-space:normal;border:0;\
    padding:4px 12px;text-align:right}.cards td:first-child{font-size:16px}
    .cards td::before{content:attr(data-label);color:var(--soft);text-align:left;flex:none}
    .cards td>div{max-width:70%}.bar{max-width:100%}
    .layers td:first-child,.layers th:first-child{max-width:150px}
    .chart{min-width:560px}.chart text,.chart .strong{font-size:17px}.chart .inbar{display:none}}
    @media print{.tall{max-height:none;overflow:visible}.tools{display:none}}
    """

  /// Filters the layer tables. Everything is readable without it.
  static let script: Markup = """
    for(const box of document.querySelectorAll('.placement')){
    const text=box.querySelector('input[type=search]'),moves=box.querySelector('input[type=checkbox]'),\
    count=box.querySelector('output'),rows=[...box.querySelectorAll('tbody tr')];if(!text)continue;
    const apply=()=>{const want=text.value.toLowerCase();let shown=0;
    for(const row of rows){const on=row.textContent.toLowerCase().includes(want)&&\
    (!moves.checked||row.dataset.moves==='1');
    row.hidden=!on;shown+=on}count.textContent=shown+' of '+rows.length};
    text.addEventListener('input',apply);moves.addEventListener('change',apply);apply()}
    """
}
