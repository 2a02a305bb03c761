'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const page = document.getElementById('page');

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties || {});
  made.append(...children);
  return made;
}

const COUNTS = ['issues', 'threads', 'requests', 'sectors', 'fullSectors', 'sharedRequests', 'passes', 'freePasses'];
function sum(lines) {
  const all = Object.fromEntries(COUNTS.map(name => [name, 0]));
  for (const line of lines)
    for (const name of COUNTS) all[name] += line[name];
  return all;
}
const ratio = (a, b) => b ? a / b : 0;
const shown = number => Number.isInteger(number) ? String(number) : number.toFixed(2);
/// Red where one lane of 32 is active, green where all are.
const colour = lanes => `hsl(${Math.round(120 * Math.min(1, lanes / 32))} 60% 72%)`;

/// The label that a line of the PTX stands under.
const labels = [];
data.ptx.reduce((label, text, i) => {
  const found = /^\s*([$%\w]+):/.exec(text) || (/\.(entry|func)\b/.test(text) ? [0, 'entry'] : null);
  return labels[i + 1] = found ? found[1] : label;
}, '');

const sourceName = line => data.files[line.file].name.replace(/.*\//, '') + ':' + line.sourceLine;
const isKnown = line => line.sourceLine && data.files && data.files[line.file];
/// Neighbours with one key, in the order of the PTX.
function runsOf(lines, key) {
  const runs = [];
  for (const line of lines) {
    const last = runs[runs.length - 1];
    if (last && last.key === key(line)) last.lines.push(line);
    else runs.push({key: key(line), lines: [line]});
  }
  return runs;
}

/// A flame: the kernel, what its lines belong to, the lines. As wide as warps executed them, coloured by the lanes that were active.
function flame(launch, rows) {
  const total = sum(launch.lines).issues;
  const block = (name, lines) => {
    const c = sum(lines), lanes = ratio(c.threads, c.issues);
    const made = element('div', {title: `${name}\n${c.issues} warp instructions, ${shown(lanes)} lanes active`}, name);
    made.style.width = 100 * ratio(c.issues, total) + '%';
    made.style.background = colour(lanes);
    made.style.color = '#222';
    made.dataset.name = name;
    made.dataset.issues = c.issues;
    if (lines.length === 1)
      made.onclick = () => {
        const row = rows.get(lines[0].line);
        row.scrollIntoView({block: 'center'});
        row.classList.add('marked');
      };
    return made;
  };
  const group = line => isKnown(line) ? sourceName(line) : labels[line.line] || launch.kernel;
  return element('div', {className: 'flame'},
    element('div', {className: 'row'}, block(launch.kernel, launch.lines)),
    element('div', {className: 'row'}, ...runsOf(launch.lines, group).map(run => block(run.key, run.lines))),
    element('div', {className: 'row'}, ...launch.lines.map(line => block((data.ptx[line.line - 1] || '').trim(), [line]))));
}

const COLUMNS = [
  ['line', 'line', 'line of the text'],
  ['issues', 'issues', 'how often a warp executed it'],
  ['lanes', 'lanes', 'threads of the warp that were active, on average, of 32'],
  ['requests', 'requests', 'accesses of memory by warps, .shared left out'],
  ['sectors', 'sectors', 'sectors of 32 bytes that an access touches, on average'],
  ['shared', 'shared', 'accesses of .shared memory by warps'],
  ['passes', 'passes', 'how often an access goes over the 32 banks, on average; more than needed is a bank conflict'],
  ['conflicts', 'conflicts', 'passes beyond those that the bytes need, in all']];

function cells(c) {
  const lanes = ratio(c.threads, c.issues);
  const made = [
    element('td', {}, shown(c.issues)),
    element('td', {className: 'lanes'}, shown(lanes)),
    element('td', {}, c.requests ? shown(c.requests) : ''),
    element('td', {className: c.sectors > c.fullSectors ? 'bad' : ''}, c.requests ? shown(ratio(c.sectors, c.requests)) : ''),
    element('td', {}, c.sharedRequests ? shown(c.sharedRequests) : ''),
    element('td', {className: c.passes > c.freePasses ? 'bad' : ''}, c.sharedRequests ? shown(ratio(c.passes, c.sharedRequests)) : ''),
    element('td', {}, c.sharedRequests ? shown(c.passes - c.freePasses) : '')];
  made[1].style.backgroundImage = `linear-gradient(${colour(lanes)}, ${colour(lanes)})`;
  made[1].style.backgroundSize = 100 * lanes / 32 + '% 100%';
  return made;
}

/// The lines of a text with what was counted at them; `linesAt` says which lines of the PTX belong to one.
function table(kind, text, linesAt, rows) {
  const body = element('tbody');
  text.forEach((words, i) => {
    const lines = linesAt(i + 1);
    const row = element('tr', {className: lines.length ? '' : 'quiet'}, element('td', {}, String(i + 1)));
    row.append(...(lines.length ? cells(sum(lines)) : COLUMNS.slice(1).map(() => element('td'))), element('td', {className: 'text'}, words));
    row.dataset.line = i + 1;
    if (rows) rows.set(i + 1, row);
    body.append(row);
  });
  const heads = COLUMNS.map(([, name, title]) => element('th', {title}, name));
  const made = element('table', {}, element('thead', {}, element('tr', {}, ...heads, element('th', {className: 'text'}, kind))), body);
  made.dataset.kind = kind;
  return made;
}

function show(launch) {
  const c = sum(launch.lines), rows = new Map(), tabs = [];
  const byLine = new Map(launch.lines.map(line => [line.line, line]));
  const last = Math.max(0, ...byLine.keys()), first = Math.min(...byLine.keys());
  const within = data.ptx.slice(0, last + 1);
  tabs.push(['PTX', table('PTX', within, n => byLine.has(n) ? [byLine.get(n)] : [], rows)]);
  for (const [number, file] of Object.entries(data.files || {})) {
    const own = launch.lines.filter(line => line.file === Number(number) && line.sourceLine);
    const text = file.text.length ? file.text : Array(Math.max(0, ...own.map(line => line.sourceLine))).fill('');
    if (own.length)
      tabs.push([file.name.replace(/.*\//, ''), table(file.name, text, n => own.filter(line => line.sourceLine === n))]);
  }
  const buttons = tabs.map(([name], i) => element('button', {onclick: () => choose(i)}, name));
  const choose = chosen => tabs.forEach(([, made], i) => {
    made.hidden = i !== chosen;
    buttons[i].setAttribute('aria-pressed', i === chosen);
  });
  choose(0);
  const section = element('section', {},
    element('h2', {}, `${launch.kernel}: grid ${launch.grid}, block ${launch.block}, ${launch.warps} warps`),
    element('p', {}, `${c.issues} warp instructions, ${shown(ratio(c.threads, c.issues))} of 32 lanes active; ` +
      `${c.requests} requests of memory, ${shown(ratio(c.sectors, c.requests))} sectors each; ` +
      `${c.sharedRequests} of shared memory, ${c.passes - c.freePasses} passes lost to bank conflicts.`));
  if (launch.outcome) section.append(element('p', {className: 'failed'}, launch.outcome));
  section.append(flame(launch, rows), element('p', {}, ...buttons), ...tabs.map(([, made]) => made));
  section.dataset.first = first;
  return section;
}

page.append(element('h1', {}, data.module), ...(data.launches || []).map(show));
document.body.dataset.isReady = 'true';
