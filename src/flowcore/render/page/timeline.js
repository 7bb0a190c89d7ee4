// The timeline: visits as bars under their rounds, and the budget as it was used up, on one axis.
const HEIGHT = 24, SPARE = 8, TICKS = 7;
const rowsBox = get("rows"), sheet = get("sheet");
const unfolded = new Set();
let rows = [], rowOf = new Map(), painted = "";
const share = (micro) => `${((micro / run.end) * 100).toFixed(3)}%`;

/** The axis, and which rows there are. */
function layTimeline() {
  rows = rowsOf(run.groups, unfolded);
  rowOf = new Map();
  rows.forEach((row, at) => {
    if (row.place !== undefined) rowOf.set(row.place, at);
    if (row.fold) for (let place = row.fold.from; place <= row.until.to; place++) rowOf.set(place, at);
  });
  sheet.style.height = `${rows.length * HEIGHT}px`;
  const rough = run.end / TICKS, size = 10 ** Math.floor(Math.log10(rough));
  const tick = size * [1, 2, 5, 10].find((times) => times * size >= rough);
  const marks = [];
  for (let at = 0; at <= run.end; at += tick) marks.push(h("span", { style: { left: share(at) } }, at ? tickWords(at) : "0"));
  get("ruler").replaceChildren(...marks);
  painted = "";
}

function tickWords(at) {
  const [size, unit] = run.end < 1e3 ? [1, "µs"] : run.end < 1e6 ? [1e3, "ms"] : run.end < 12e7 ? [1e6, "s"] : [6e7, "min"];
  return `${+(at / size).toFixed(2)} ${unit}`;
}

/** Draws the rows in view, and no others. */
function paintTimeline(step, comparing, all = false) {
  const from = all ? 0 : Math.max(0, Math.floor(rowsBox.scrollTop / HEIGHT) - SPARE);
  const seen = all ? 1000 : Math.ceil((rowsBox.clientHeight || 600) / HEIGHT) + 2 * SPARE;
  const now = `${from} ${seen} ${step} ${comparing} ${run.visits.length} ${rows.length} ${run.end}`;
  if (now === painted) return;
  painted = now;
  const shown = rows.slice(from, from + seen).map((row, at) => paintRow(row, from + at, step, comparing));
  sheet.replaceChildren(...shown);
  const at = share(cursor(step));
  for (const line of document.querySelectorAll(".cursor")) line.style.left = at;
}

/** Where the cursor stands: a visit is told when it ended, a composite when it began. */
function cursor(step) {
  const visit = run.visits[step];
  if (!visit) return 0;
  return visit.last > step ? visit.started : visit.ended < 0 ? run.own : visit.ended;
}

function showRow(step) {
  const top = (rowOf.get(step) ?? 0) * HEIGHT, seen = rowsBox.clientHeight - HEIGHT;
  if (top < rowsBox.scrollTop + HEIGHT) rowsBox.scrollTop = Math.max(0, top - 2 * HEIGHT);
  else if (top > rowsBox.scrollTop + seen - HEIGHT) rowsBox.scrollTop = top - seen + 2 * HEIGHT;
}

function paintRow(row, at, step, comparing) {
  const style = { top: `${at * HEIGHT}px` };
  if (row.group) return paintHead(row, style, step);
  if (row.fold) return paintFold(row, style, step);
  const visit = run.visits[row.place], current = row.place === step;
  const tag = visit.branch && visit.branch !== visit.name ? visit.branch : "";
  const classes = `row visit ${visit.outcome.replace(" ", "-")}${current ? " current" : ""}${row.place > step ? " ahead" : ""}`;
  const name = h("span", { class: "name", style: { "padding-left": `${10 + 14 * Math.min(visit.names.length - 1, 8)}px` } },
    h("i", { role: "img", "aria-label": visit.outcome }, SIGNS[visit.outcome]), said(visit.name), tag && h("small", {}, said(tag)), visit.dropped ? h("small", {}, "dropped") : "");
  const pair = comparing ? page.other.times[row.place] : 0;
  const bars = h("span", { class: "bars" }, ...paintBars(visit));
  if (pair) bars.append(h("span", { class: "theirs", style: { left: share(pair[0]), width: share(pair[1] - pair[0]) } }));
  const delta = comparing && h("small", {}, pair ? difference(visit, pair) : "new");
  const end = h("span", { class: "took" }, delta || "", ` ${took(visit)}`);
  return h("button", { class: classes, style, tabindex: "-1", "data-place": row.place, title: visit.path,
    "aria-current": current && "step" }, name, bars, end);
}

function difference(visit, [started, ended]) {
  const micro = (visit.ended < 0 ? run.own : visit.ended) - visit.started - (ended - started);
  return `${micro < 0 ? "−" : "+"}${time(Math.abs(micro))}`;
}

/** The bar of a visit: failed attempts in dashes, and within it a mark for each request to a model. */
function* paintBars(visit) {
  const ended = visit.ended < 0 ? run.own : visit.ended, length = Math.max(ended - visit.started, 1);
  const bar = h("span", { class: "bar", style: { left: share(visit.started), width: share(length) } });
  const inner = (started, until, name) => bar.append(h("span", { class: name,
    style: { left: `${((started - visit.started) / length) * 100}%`, width: `${((until - started) / length) * 100}%` } }));
  let before = visit.started;
  for (const [at] of visit.retried) inner(before, at, "bad"), (before = at);
  for (const [, started, until, , , failure] of visit.calls) inner(started, until < 0 ? ended : until, failure ? "bad" : "");
  yield bar;
}

function paintHead({ group, folds }, style, step) {
  const words = group.round ? `Round ${number(group.round)}` : "Before round 1";
  const close = folds ? h("small", {}, "fold again") : "";
  return h(folds ? "button" : "div", { class: `row head${group.from > step ? " ahead" : ""}`, style, "data-fold": folds, tabindex: folds && "-1" },
    h("span", { class: "name" }, words, close), span(group.started, group.ended),
    h("span", { class: "took" }, time(Math.max(0, group.ended - group.started))));
}

function paintFold({ fold, until, like, count }, style, step) {
  const inside = fold.from <= step && step <= until.to;
  const here = inside ? `, now in round ${number(run.groups.findLast((group) => group.from <= step).round)}` : "";
  const words = `Rounds ${number(fold.round)} to ${number(until.round)}: same path, ${number(count)}×${here}`;
  return h("button", { class: `row head fold${inside ? " current" : ""}${fold.from > step ? " ahead" : ""}`, style, tabindex: "-1",
    "data-fold": fold.round, title: `the same path as round ${like.round}; click to unfold` },
    h("span", { class: "name" }, h("i", {}, "▸"), words), span(fold.started, until.ended),
    h("span", { class: "took" }, time(until.ended - fold.started)));
}

const span = (started, ended) => h("span", { class: "bars" },
  h("span", { class: "span", style: { left: share(started), width: share(Math.max(0, ended - started)) } }));

/** The dimensions that have a limit, the one that was used most of first. */
function limited() {
  const used = (name) => page.head.spent[DIMENSIONS.indexOf(name)] / page.head.budget[name];
  return DIMENSIONS.filter((name) => page.head.budget[name] > 0).sort((one, other) => used(other) - used(one));
}

function layBudget(name) {
  const limit = page.head.budget[name], place = DIMENSIONS.indexOf(name);
  get("budget").hidden = !name;
  if (!name) return;
  const used = [[0, 0]];
  const ended = run.visits.filter((visit) => visit.ended >= 0).sort((one, other) => one.ended - other.ended);
  for (const visit of ended) {
    const now = name === "seconds" ? visit.ended / 1e6 : visit.spent[place];
    if (now > used.at(-1)[1]) used.push([visit.ended, now]);
  }
  const total = name === "seconds" ? run.own / 1e6 : page.head.spent[place];
  if (total > used.at(-1)[1]) used.push([run.own, total]);
  const low = Math.min(0, limit - used.at(-1)[1]), high = limit + (limit - low) * 0.06, floor = low - (limit - low) * 0.08;
  const y = (left) => ((high - left) / (high - floor)) * 100, x = (micro) => (micro / run.end) * 1000;
  let line = `M0 ${y(limit)}`, column = 0;
  for (const [at, now] of used) {
    if (x(at) - column < 0.4 && at < run.own) continue;
    line += name === "seconds" ? `L${x(at)} ${y(limit - now)}` : `H${x(at)}V${y(limit - now)}`;
    column = x(at);
  }
  line += `H${x(run.own)}`;
  const bands = run.groups.length > 80 ? [] : run.groups.filter((group) => group.round % 2);
  get("chart").replaceChildren(
    ...bands.map((group) => shape("rect", { class: "band", x: x(group.started), y: 0, width: Math.max(0, x(group.ended - group.started)), height: 100 })),
    shape("path", { class: "area", d: `${line}V${y(0)}H0Z` }),
    shape("path", { class: "limit", d: `M0 ${y(0)}H1000` }),
    shape("path", { class: "left", d: line }),
  );
  run.used = used;
}

function paintBudget(name, step) {
  if (!name) return;
  const at = cursor(step), limit = page.head.budget[name];
  const now = name === "seconds" ? at / 1e6 : run.used.findLast(([micro]) => micro <= at)?.[1] ?? 0;
  const left = limit - now, show = (value) => (name === "seconds" ? time(value * 1e6) : number(value));
  get("left").textContent = left < 0 ? `${show(-left)} over` : `${show(left)} of ${show(limit)}`;
  get("left").classList.toggle("over", left < 0);
}
