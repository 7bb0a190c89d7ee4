// The run as the page sees it: visits in the order in which they began, grouped by rounds, equal rounds folded.
const page = JSON.parse(document.getElementById("data").textContent);
const FIELDS = ["path", "seq", "round", "started", "ended", "kind", "label", "target", "edge", "attempts", "spent",
  "branch", "dropped", "finish", "why", "changes", "calls", "said", "failure", "retried"];
const DIMENSIONS = ["rounds", "requests", "tool_calls", "tokens", "cost", "seconds"];
const SIGNS = { ok: "✓", failed: "✕", retried: "↻", "over limit": "⊘", unfinished: "◌", running: "●" };
const FEWEST_FOLDED = 4;
const ids = new Map(Object.entries(page.ids));
const routes = new Map(Object.entries(page.routes));
const starts = new Map(Object.entries(page.start)), finishes = new Map(Object.entries(page.finish));
const text = (value) => (typeof value === "number" ? page.texts[value] : value) ?? "";

function outcomeOf(visit) {
  if (visit.kind === "running" || visit.kind === "unfinished") return visit.kind;
  if (visit.failure) return "failed";
  if (visit.kind === "over_limit") return "over limit";
  return visit.attempts > 1 ? "retried" : "ok";
}

function readVisit(row) {
  const visit = Object.fromEntries(FIELDS.map((name, place) => [name, row[place] ?? 0]));
  for (const name of ["path", "kind", "label", "target", "branch", "finish"]) visit[name] = text(visit[name]);
  for (const name of ["why", "changes", "calls", "said", "retried"]) visit[name] ||= [];
  visit.declared = visit.path.replace(/#\d+|\[\d+\]/g, "");
  visit.names = visit.declared.split("/");
  visit.name = visit.names.at(-1);
  visit.id = ids.get(visit.declared);
  visit.outcome = outcomeOf(visit);
  return visit;
}

const wrong = (visit) => visit.failure && visit.kind !== "unfinished";

/** The edges that show a visit as taken: how its walk began, and how it was left. */
function edgesInto(visit) {
  return (visit.finish ? finishes : starts).get(visit.id);
}
function edgeOut(visit) {
  const ways = routes.get(visit.id) ?? [];
  if (visit.edge >= 0) return ways[visit.edge]?.[0];
  const last = ways.at(-1);
  return ["complete", "join"].includes(visit.kind) && ["end", "join"].includes(last?.[1]) ? last[0] : undefined;
}

const run = { visits: page.visits.map(readVisit), places: new Map(), groups: [], end: 1 };

/** Works out what follows from the visits: who stands in whom, rounds, how long it all took. */
function settle() {
  const { visits, places } = run;
  visits.sort((one, other) => one.seq - other.seq);
  places.clear();
  visits.forEach((visit, place) => places.set(visit.path, place));
  let end = 1;
  visits.forEach((visit, place) => {
    const above = visit.path.slice(0, visit.path.lastIndexOf("/")).replace(/\[\d+\]$/, "");
    visit.parent = visit.path.includes("/") ? places.get(above) ?? -1 : -1;
    visit.last = place;
    end = Math.max(end, visit.started, visit.ended);
  });
  for (let place = visits.length - 1; place >= 0; place--) {
    const above = visits[visits[place].parent];
    if (above) above.last = Math.max(above.last, visits[place].last);
  }
  run.end = Math.max(end, ...(page.other ? page.other.times.map((pair) => (pair ? pair[1] : 0)) : [0]));
  run.own = end;
  run.groups = grouped(visits);
}

function grouped(visits) {
  const groups = [];
  visits.forEach((visit, place) => {
    let group = groups.at(-1);
    if (!group || visit.round > group.round) {
      group = { round: visit.round, from: place, path: "", started: Infinity, ended: 0 };
      groups.push(group);
    }
    group.to = place;
    group.path += `${visit.declared} ${visit.kind} ${visit.label}\n`;
    if (visit.last === place) {
      group.started = Math.min(group.started, visit.started);
      group.ended = Math.max(group.ended, visit.ended < 0 ? run.own ?? visit.started : visit.ended);
    }
  });
  return groups;
}

/** The rows of the timeline: heads of rounds, visits, and folds of rounds that went the same way. */
function rowsOf(groups, unfolded) {
  const rows = [], plain = groups.length === 1 && groups[0].round === 0;
  for (let at = 0; at < groups.length; at++) {
    let same = at;
    while (same + 1 < groups.length && groups[same + 1].path === groups[at].path) same++;
    const folds = same - at >= FEWEST_FOLDED;
    const open = folds && unfolded.has(groups[at + 1].round) ? same : at;
    for (let shown = at; shown <= open; shown++) {
      if (!plain) rows.push({ group: groups[shown] });
      if (shown === at + 1) rows.at(-1).folds = groups[shown].round;
      for (let place = groups[shown].from; place <= groups[shown].to; place++) rows.push({ place });
    }
    if (folds && open === at) rows.push({ fold: groups[at + 1], until: groups[same], like: groups[at], count: same - at });
    if (folds) at = same;
  }
  return rows;
}

function time(micro) {
  const seconds = micro / 1e6;
  if (seconds < 0.00095) return `${Math.round(micro)} µs`;
  if (seconds < 0.00995) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1e3)} ms`;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
}
const took = (visit) => (visit.ended < 0 ? "under way" : time(visit.ended - visit.started));
const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: Number.isInteger(value) ? 21 : 4 });
const times = (count) => ({ 1: "once", 2: "twice" })[count] ?? `${count} times`;

/** An element; whatever comes from a run goes in as text, never as markup. */
function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "style") Object.entries(value).forEach(([key, set]) => made.style.setProperty(key, set));
    else if (value !== false && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ""));
  return made;
}
const get = (id) => document.getElementById(id);
const said = (words) => h("bdi", {}, words);
