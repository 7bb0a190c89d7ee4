// The run as the page sees it: visits in the order in which they began, grouped by rounds, equal rounds folded.
const get = (id) => document.getElementById(id);
const page = JSON.parse(get("data").textContent);
const run = { groups: [], own: 1, end: 1 };
const ids = new Map(Object.entries(page.ids));
const ranks = new Map([...ids.keys()].map((path, rank) => [path, rank]));
const visits = page.visits.map(readVisit), places = new Map();
const FEWEST_FOLDED = 4;

/** A text of the run: in a page its place among all texts, in the news of a live run the text itself. */
function text(value) {
  return typeof value === "number" ? page.texts[value] : value;
}

function readVisit(row) {
  const visit = {};
  page.fields.forEach(([name, none], at) => (visit[name] = none === "" ? text(row[at] ?? none) : row[at] ?? none));
  visit.declared = visit.path.replace(/#\d+|\[\d+\]/g, "");
  visit.depth = visit.declared.split("/").length - 1;
  visit.name = visit.declared.split("/").at(-1);
  visit.tag = visit.branch === visit.name ? "" : visit.branch;
  visit.id = ids.get(visit.declared);
  visit.sign = page.signs[visit.outcome];
  visit.tone = visit.outcome.replace(" ", "-");
  return visit;
}

const goesOn = (visit) => visit.ended < 0;
const untilOf = (visit) => (goesOn(visit) ? run.own : visit.ended);
const wrong = (visit) => visit.failure && visit.kind !== "unfinished";
const waysOf = (visit) => page.routes[visit.id] ?? [];

/** The way by which a visit was left: a route of its node, or the last way of all, which leads to the end or the join. */
function wayOf(visit) {
  const way = waysOf(visit).at(visit.edge);
  return visit.edge >= 0 || (way && !way[3] && /^(complete|join)$/.test(visit.kind)) ? way : undefined;
}

/** The visits of one walk that stand in another visit are told by its path, without the number of an item. */
function above(visit) {
  const end = visit.path.lastIndexOf("/");
  return end < 0 ? -1 : places.get(visit.path.slice(0, end).replace(/\[\d+\]$/, "")) ?? -1;
}

/** Works out what follows from the visits: who stands in whom, rounds, how long it all took. */
function settle() {
  visits.sort((one, other) => one.seq - other.seq);
  places.clear();
  visits.forEach((visit, place) => places.set(visit.path, place));
  run.own = visits.reduce((end, visit) => Math.max(end, visit.started, visit.ended), 1);
  run.end = (page.other?.times ?? []).reduce((end, pair) => Math.max(end, pair ? pair[0] + pair[1] : 0), run.own);
  visits.forEach((visit, place) => {
    visit.last = place;
    const around = visits[above(visit)];
    const branch = visit.branch[0] === "[" ? +visit.branch.slice(1, -1) : ranks.get(`${around?.declared}/${visit.branch}`) ?? 0;
    visit.beside = visit.branch || around?.beside;
    visit.order = [...(around?.order ?? []), branch, visit.seq];
  });
  for (let place = visits.length - 1; place >= 0; place--) {
    const around = visits[above(visits[place])];
    if (around) around.last = Math.max(around.last, visits[place].last);
  }
  run.groups = grouped();
}

/** What stands in a visit follows it, branches and items as they were declared. */
function byOrder(one, other) {
  const at = one.order.findIndex((rank, depth) => rank !== other.order[depth]);
  return at < 0 ? -1 : at < other.order.length ? one.order[at] - other.order[at] : 1;
}

/** Groups of visits, each from a round to the next one. What runs side by side stays together, whatever rounds it starts. */
function grouped() {
  const groups = [];
  visits.forEach((visit, place) => {
    const { round, beside } = visit;
    if (!groups.length || (!beside && round > groups.at(-1).until)) groups.push({ round, from: place, started: Infinity, ended: 0, until: 0, places: [] });
    const group = groups.at(-1);
    group.until = Math.max(group.until, round);
    group.to = place;
    group.places.push(place);
    if (visit.last > place) return;
    group.started = Math.min(group.started, visit.started);
    group.ended = Math.max(group.ended, untilOf(visit));
  });
  for (const group of groups) {
    group.places.sort((one, other) => byOrder(visits[one], visits[other]));
    group.path = group.places.map((place) => `${visits[place].declared} ${visits[place].kind} ${visits[place].label}`).join("\n");
  }
  return groups;
}

const roundsFrom = (first, last) => (first === last ? `Round ${number(last)}` : `Rounds ${number(first)} to ${number(last)}`);

/** The rows of the timeline: heads of rounds, visits, and folds of rounds that went the same way. */
function rowsOf(groups, unfolded) {
  const rows = [], plain = groups.length === 1 && !groups[0].round;
  for (let at = 0; at < groups.length; at++) {
    let same = at;
    while (groups[same + 1]?.path === groups[at].path) same++;
    const folds = same - at >= FEWEST_FOLDED, open = folds && unfolded.has(groups[at + 1].round) ? same : at;
    for (let shown = at; shown <= open; shown++) {
      const { round, until, from, started, ended, places } = groups[shown];
      const words = until ? roundsFrom(round, until) : "Before round 1";
      if (!plain) rows.push({ words, from, to: -1, started, ended, close: shown === at + 1 && round });
      rows.push(...places.map((place) => ({ place })));
    }
    if (!folds) continue;
    if (open === at) {
      const { round, from, started } = groups[at + 1], until = groups[same];
      const words = `${roundsFrom(round, until.round)}: same path, ${number(same - at)}×`;
      rows.push({ words, from, to: until.to, started, ended: until.ended, fold: round });
    }
    at = same;
  }
  return rows;
}

function time(micro) {
  const seconds = micro / 1e6, whole = Math.round(seconds);
  if (seconds < 0.00095) return `${Math.round(micro)} µs`;
  if (seconds < 0.9995) return `${(seconds * 1e3).toFixed(seconds < 0.00995 ? 1 : 0)} ms`;
  return seconds < 60 ? `${seconds.toFixed(2)} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
const took = (started, ended) => (ended < 0 ? "under way" : time(ended - started));
const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: Number.isInteger(value) ? 21 : 4 });
const times = (count) => ["never", "once", "twice"][count] ?? `${count} times`;

const joined = (joint, ...words) => words.flat().filter(Boolean).join(joint);

const SHAPES = new Set(["g", "path", "rect", "text"]), SVG = get("chart").namespaceURI;

/** An element, `tag.class`, of attributes and children; whatever comes from a run goes in as text, never as markup. */
function h(tag, ...parts) {
  const [name, ...classes] = tag.split(".");
  const made = SHAPES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const part of parts.flat()) {
    if (part?.constructor === Object) set(made, part);
    else if (part) made.append(part);
  }
  return made;
}
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") Object.assign(element.style, value);
    else if (value === false || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
}
/** Puts children, and nothing else, into the element of an id. */
const fill = (id, ...parts) => get(id).replaceChildren(...parts.flat().filter(Boolean));
/** Words of a run: however they run, they turn nothing around them. */
const said = (words) => words && h("bdi", words);
const soft = (...words) => h("p.soft", words);
