// The timeline: visits as bars under their rounds, and the budget as it was used up, on one axis.
const HEIGHT = 24, SPARE = 8, TICKS = 7;
const UNITS = [[1e3, 1, "µs"], [1e6, 1e3, "ms"], [12e7, 1e6, "s"], [Infinity, 6e7, "min"]];
const rowsBox = get("rows"), unfolded = new Set();
let rows = [], rowOf = new Map(), painted = "";
const share = (micro, whole = run.end) => `${((micro / whole) * 100).toFixed(3)}%`;
const span = (kind, started, length) => h(`span.${kind}`, { style: { left: share(started), width: share(Math.max(0, length)) } });

/** The axis, and which rows there are. */
function layTimeline() {
  rows = rowsOf(run.groups, unfolded);
  rowOf = new Map();
  rows.forEach(({ place, fold, from, to }, at) => {
    for (let inside = fold ? from : place; inside <= (fold ? to : place); inside++) rowOf.set(inside, at);
  });
  get("sheet").style.height = `${rows.length * HEIGHT}px`;
  const rough = run.end / TICKS, size = 10 ** Math.floor(Math.log10(rough));
  const tick = size * [1, 2, 5, 10].find((times) => times * size >= rough);
  const [, unit, name] = UNITS.find(([below]) => run.end < below);
  const marks = Array.from({ length: Math.floor(run.end / tick) + 1 }, (_, at) => at * tick);
  fill("ruler", marks.map((at) => h("span", { style: { left: share(at) } }, at ? `${+(at / unit).toFixed(2)} ${name}` : "0")));
  painted = "";
}

/** Draws the rows in view, and no others. */
function paintTimeline(step, comparing, all = false) {
  const from = all ? 0 : Math.max(0, Math.floor(rowsBox.scrollTop / HEIGHT) - SPARE);
  const seen = all ? 1000 : Math.ceil((rowsBox.clientHeight || 600) / HEIGHT) + 2 * SPARE;
  const now = `${[from, seen, step, comparing, visits.length, rows.length, run.end]}`;
  if (now === painted) return;
  painted = now;
  fill("sheet", rows.slice(from, from + seen).map((row, at) => {
    const made = row.words ? paintBand(row, step) : paintVisit(row.place, step, comparing);
    made.style.top = `${(from + at) * HEIGHT}px`;
    return made;
  }));
  get("cursor").style.left = share(cursor(step));
}

/** Where the cursor stands: a visit is told when it ended, a composite when it began. */
function cursor(step) {
  const visit = visits[step];
  return !visit ? 0 : visit.last > step ? visit.started : untilOf(visit);
}

function showRow(step) {
  const top = (rowOf.get(step) ?? 0) * HEIGHT, seen = rowsBox.clientHeight - get("budget").offsetHeight - 2 * HEIGHT;
  if (top < rowsBox.scrollTop + HEIGHT) rowsBox.scrollTop = top - 2 * HEIGHT;
  else if (top > rowsBox.scrollTop + seen) rowsBox.scrollTop = top - seen + HEIGHT;
}

const stateAt = (place, step, current) => (current ? ".current" : "") + (place > step ? ".ahead" : "");

function paintVisit(place, step, comparing) {
  const visit = visits[place], { path, depth, name, tag, sign, outcome, dropped, started, ended } = visit;
  const current = place === step, pair = comparing && page.other.times[place];
  return h(`button.row.visit.${visit.tone}${stateAt(place, step, current)}`,
    { tabindex: -1, "data-place": place, title: path, "aria-current": current && "step" },
    h("span.name", { style: { paddingLeft: `${10 + 14 * Math.min(depth, 8)}px` } },
      h("i", { role: "img", "aria-label": outcome }, sign), said(name), tag && h("small", said(tag)), dropped && h("small", "dropped")),
    h("span.bars", bar(visit), pair && span("theirs", pair[0], pair[1])),
    h("span.took", comparing && h("small", pair ? pair[2] : "new"), ` ${took(started, ended)}`));
}

/** The bar of a visit, and within it a mark for each attempt that failed and each call of a model or a tool. */
function bar(visit) {
  const ended = untilOf(visit), length = Math.max(ended - visit.started, 1);
  const marks = visit.entries.map(([sign, , , from, until]) => until !== from && h(`span${/[✕↻]/.test(sign) ? ".bad" : ""}`, { style: {
    left: share(from - visit.started, length), width: share((until < 0 ? ended : until) - from, length) } }));
  const made = span("bar", visit.started, length);
  made.append(...marks.filter(Boolean));
  return made;
}

/** The head of a round, or of many that went the same way; either may open or close the fold. */
function paintBand({ words, from, to, started, ended, fold, close }, step) {
  const inside = from <= step && step <= to;
  const here = inside && `, now in round ${number(run.groups.findLast((group) => group.from <= step).round)}`;
  return h(`${fold || close ? "button" : "div"}.row.head${fold ? ".fold" : ""}${stateAt(from, step, inside)}`, { tabindex: (fold || close) && -1, "data-fold": fold || close },
    h("span.name", fold && h("i", "▸"), words, here, close && h("small", "fold again")),
    h("span.bars", span("span", started, ended - started)), h("span.took", time(Math.max(0, ended - started))));
}

/** Of each moment how much was used; a visit under way has not told yet. */
function usedUp(place) {
  const used = [[0, 0]], over = visits.filter((visit) => !goesOn(visit)).sort((one, other) => one.ended - other.ended);
  for (const { ended, spent } of [...over, { ended: run.own, spent: page.head.spent }]) {
    if (spent[place] > used.at(-1)[1]) used.push([ended, spent[place]]);
  }
  return used;
}

function layBudget([name, place, limit] = []) {
  get("budget").hidden = !name;
  if (!name) return;
  const used = (run.used = usedUp(place));
  const low = Math.min(0, limit - used.at(-1)[1]), high = limit + (limit - low) * 0.06, floor = low - (limit - low) * 0.08;
  const x = (micro) => (micro / run.end) * 1000, y = (now) => ((high - limit + now) / (high - floor)) * 100;
  let line = `M0 ${y(0)}`, column = 0;
  for (const [at, now] of used) {
    if (x(at) - column < 0.4 && at < run.own) continue;
    line += `H${x(at)}V${y(now)}`;
    column = x(at);
  }
  line += `H${x(run.own)}`;
  const bands = run.groups.length > 80 ? [] : run.groups.filter(({ round }) => round % 2);
  fill("chart", bands.map(({ started, ended }) => h("rect.band", { x: x(started), y: 0, width: Math.max(0, x(ended - started)), height: 100 })),
    h("path.area", { d: `${line}V${y(limit)}H0Z` }), h("path.limit", { d: `M0 ${y(limit)}H1000` }), h("path.left", { d: line }));
}

function paintBudget([name, , limit] = [], step) {
  if (!name) return;
  const now = cursor(step), left = limit - run.used.findLast(([at]) => at <= now)[1];
  const show = (value) => (name === "Seconds" ? time(value * 1e6) : number(value));
  fill("left", left < 0 ? `${show(-left)} over` : `${show(left)} of ${show(limit)}`);
  get("left").classList.toggle("error", left < 0);
}
