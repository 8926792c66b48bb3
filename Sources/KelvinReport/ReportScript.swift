/// The page's JavaScript: selecting layers, filtering tables, scaling graphs. The page is readable without it.
enum ReportScript {
  static let source: Markup = """
    'use strict';
    for(const box of document.querySelectorAll('.placement')){
    const nodes=[...box.querySelectorAll('.node')].sort((a,b)=>a.dataset.n-b.dataset.n),
    hits=[],rows=[...box.querySelectorAll('.layers tr[data-moves]')],
    heads=[...box.querySelectorAll('.layers thead th')],panel=box.querySelector('.inspector');
    for(const hit of box.querySelectorAll('.hit'))hits[hit.dataset.n]=hit;
    for(const tools of box.querySelectorAll('.tools'))tools.hidden=false;
    let chosen=-1;
    const select=(n,focus)=>{
    if(!nodes[n])return;
    for(const list of [nodes,hits,rows])if(list[chosen])list[chosen].classList.remove('on');
    nodes[Math.max(chosen,0)].tabIndex=-1;
    chosen=n;nodes[n].tabIndex=0;
    for(const list of [nodes,hits,rows])if(list[n])list[n].classList.add('on');
    if(focus)nodes[n].focus();
    const cells=[...rows[n].children],title=document.createElement('p'),list=document.createElement('dl');
    title.className='title';title.append(...[...cells[0].childNodes].map(c=>c.cloneNode(true)));
    cells.slice(1).forEach((cell,i)=>{
    if(!cell.textContent)return;
    const name=document.createElement('dt'),value=document.createElement('dd');
    name.append(...[...heads[i+1].childNodes].map(c=>c.cloneNode(true)));
    value.append(...[...cell.childNodes].map(c=>c.cloneNode(true)));
    if(cell.classList.contains('chosen'))value.classList.add('chosen');
    list.append(name,value)});
    panel.replaceChildren(title,list);panel.hidden=false};
    nodes.forEach((node,n)=>{
    node.tabIndex=n?-1:0;
    node.addEventListener('click',e=>{e.preventDefault();select(n,false)});
    node.addEventListener('keydown',e=>{
    const step={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[e.key];
    if(step){e.preventDefault();let m=n+step;while(nodes[m]&&!nodes[m].getClientRects().length)m+=step;
    if(nodes[m])select(m,true)}
    else if(e.key==='Home'||e.key==='End'){e.preventDefault();select(e.key==='Home'?0:nodes.length-1,true)}
    else if(e.key===' '){e.preventDefault();select(n,false)}
    else if(e.key==='Escape'){panel.hidden=true}})});
    hits.forEach((hit,n)=>hit.addEventListener('click',()=>select(n,false)));
    let zoom=1;
    for(const button of box.querySelectorAll('[data-zoom]'))button.addEventListener('click',()=>{
    zoom=Math.min(Math.max(zoom*button.dataset.zoom,.4),2.5);box.style.setProperty('--z',zoom)});
    const text=box.querySelector('input[type=search]'),moves=box.querySelector('.moves'),
    count=box.querySelector('output');
    const apply=()=>{const want=text.value.toLowerCase();let shown=0;
    box.classList.toggle('filtered',want!==''||moves.checked);
    for(const row of rows){const on=row.textContent.replace(/\\u00a0/g,' ').toLowerCase().includes(want)&&\
    (!moves.checked||row.dataset.moves==='1');row.hidden=!on;shown+=on}
    for(const part of box.querySelectorAll('.layers .inside'))\
    part.hidden=![...part.children].some(row=>row.dataset.moves&&!row.hidden);
    count.textContent=shown+' of '+rows.length};
    text.addEventListener('input',apply);moves.addEventListener('change',apply);apply()}
    addEventListener('beforeprint',()=>{for(const box of document.querySelectorAll('.placement'))box.open=true});
    """
}
