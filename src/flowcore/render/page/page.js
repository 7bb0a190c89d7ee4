// The page: which step is looked at and how, the keys and links for it, and the news of a run that goes on.
const root = document.documentElement, slider = get("slider");
const view = { step: firstLook(), comparing: false, table: false, theme: root.dataset.theme, budget: "", follow: page.live !== null };
let playing = 0, due = 0, printing = false;

function paint() {
  due = 0;
  const count = run.visits.length;
  view.step = Math.min(Math.max(view.step, 0), count - 1);
  slider.max = Math.max(count, 1);
  slider.value = view.step + 1;
  slider.setAttribute("aria-valuetext", count ? spoken(view.step) : "no step yet");
  get("place").textContent = count ? `step ${number(view.step + 1)} of ${number(count)}` : "no step yet";
  paintGraph(view.step, view.comparing);
  if (view.table || printing) paintTable(view.step, printing ? 2000 : undefined);
  if (!view.table || printing) paintTimeline(view.step, view.comparing, printing);
  paintBudget(view.budget, view.step);
  paintDetails(view.step);
}
const soon = () => (due ||= requestAnimationFrame(paint));

function go(step, quiet = false) {
  if (!run.visits.length) return;
  view.step = Math.min(Math.max(step, 0), run.visits.length - 1);
  if (!view.table) showRow(view.step);
  if (!quiet) {
    view.follow = false;
    get("news").textContent = spoken(view.step);
  }
  dress();
  soon();
}

/** The end of the run; of one that failed, where it did. */
function firstLook() {
  const failed = page.head.status === "failed" ? run.visits.findLastIndex(wrong) : -1;
  return failed < 0 ? run.visits.length - 1 : failed;
}

/** What the buttons say, and the link to all this. */
function dress() {
  get("compare")?.setAttribute("aria-pressed", view.comparing);
  get("tabled").setAttribute("aria-pressed", view.table);
  get("follow")?.setAttribute("aria-pressed", view.follow);
  get("replay").textContent = playing ? "Pause" : "Replay";
  const dark = view.theme === "dark" || (view.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  get("theme").textContent = dark ? "Light" : "Dark";
  root.dataset.theme = view.theme;
  root.classList.toggle("tabled", view.table);
  root.classList.toggle("comparing", view.comparing);
  const differs = view.comparing ? page.other.words : "";
  get("differs").replaceChildren(differs ? said(`${differs}. Thin bars are ${page.other.name}.`) : `${number(run.visits.length)} steps`);
  const link = new URLSearchParams();
  if (!view.follow) link.set("step", view.step + 1);
  if (view.comparing) link.set("cmp", "1");
  if (view.theme !== "auto") link.set("theme", view.theme);
  if (view.table) link.set("view", "table");
  try { history.replaceState(null, "", `#${link}`); } catch { /* a frame without an address of its own */ }
}

function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  if (Number(link.get("step")) > 0) (view.step = Math.min(Number(link.get("step")), run.visits.length) - 1), (view.follow = false);
  view.comparing = Boolean(page.other) && link.has("cmp") && link.get("cmp") !== "0";
  view.table = link.get("view") === "table";
  if (["light", "dark", "auto"].includes(link.get("theme"))) view.theme = link.get("theme");
}

function compare() {
  if (!page.other) return;
  view.comparing = !view.comparing;
  if (view.comparing && page.other.apart >= 0) go(page.other.apart);
  get("news").textContent = view.comparing ? page.other.words : "no longer compared";
  dress(), soon();
}
function table() { view.table = !view.table; dress(); paint(); if (!view.table) showRow(view.step), paint(); fit(); }
function turn() { view.theme = get("theme").textContent === "Dark" ? "dark" : "light"; dress(); }
function follow() { view.follow = true; go(run.visits.length - 1, true); }
function help() { if (!get("help").open) get("help").showModal(); }

function replay() {
  clearInterval(playing);
  if (playing) return (playing = 0), dress();
  if (view.step >= run.visits.length - 1) go(0);
  const count = run.visits.length, hop = Math.max(1, Math.round(count / 120));
  playing = setInterval(() => {
    go(view.step + hop);
    if (view.step >= run.visits.length - 1) replay();
  }, count > 40 ? 250 : 600);
  dress();
}

/** The first step of the next round, or of this one or the one before it. */
function hopRound(way) {
  const at = run.groups.findLastIndex((group) => group.from <= view.step);
  const back = run.groups[at]?.from < view.step ? 0 : 1;
  go(run.groups[way > 0 ? at + 1 : Math.max(0, at - back)]?.from ?? view.step);
}
function hopError() {
  const next = run.visits.findIndex((visit, place) => place > view.step && wrong(visit));
  const found = next < 0 ? run.visits.findIndex(wrong) : next;
  if (found >= 0) go(found);
  else get("news").textContent = "no step failed";
}
/** The visits of one node, one after the other. */
function choose(path) {
  const mine = run.visits.flatMap((visit, place) => (visit.declared === path ? [place] : []));
  if (mine.length) go(mine.find((place) => place > view.step && run.visits[view.step].declared === path) ?? mine[0]);
}

const KEYS = {
  ArrowLeft: () => go(view.step - 1), ArrowRight: () => go(view.step + 1), Home: () => go(0), End: () => go(run.visits.length - 1),
  "[": () => hopRound(-1), "]": () => hopRound(1), e: hopError, " ": replay, c: compare, t: table, d: turn, "?": help,
};

function wake() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || get("help").open || event.target.closest("select")) return;
    if (event.key === " " && event.target.closest("button, [role=button], summary")) return;
    if (event.target === slider && event.key.startsWith("Arrow") && !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (act) event.preventDefault(), act();
  });
  const press = { back: () => go(view.step - 1), on: () => go(view.step + 1), replay, compare, tabled: table, theme: turn, ask: help, follow,
    closer: () => ((zoom = Math.min(fit() * 1.25, 3)), fit()), farther: () => ((zoom = Math.max(fit() / 1.25, 0.2)), fit()), whole: () => ((zoom = 0), fit()),
    "page-back": () => go(view.step - TABLE_ROWS), "page-on": () => go(view.step + TABLE_ROWS) };
  for (const [id, act] of Object.entries(press)) get(id)?.addEventListener("click", act);
  slider.addEventListener("input", () => go(slider.value - 1));
  rowsBox.addEventListener("scroll", soon);
  sheet.addEventListener("click", ({ target }) => {
    const row = target.closest("[data-place], [data-fold]");
    if (row?.dataset.place) go(+row.dataset.place);
    else if (row) {
      const round = +row.dataset.fold;
      if (!unfolded.delete(round)) unfolded.add(round);
      layTimeline(), paint();
    }
  });
  get("cells").addEventListener("click", ({ target }) => target.dataset.place && go(+target.dataset.place));
  get("dimension").addEventListener("change", ({ target }) => ((view.budget = target.value), layBudget(view.budget), soon()));
  addEventListener("resize", () => (fit(), soon()));
  addEventListener("hashchange", () => (readLink(), go(view.step, true)));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  matchMedia("print").addEventListener("change", ({ matches }) => ((printing = matches), paint()));
}

function lay() {
  settle();
  const names = limited();
  if (!names.includes(view.budget)) view.budget = names[0] ?? "";
  get("dimension").replaceChildren(...names.map((name) => h("option", { value: name, selected: name === view.budget }, `${name.replace("_", " ")} left`)));
  get("dimension").hidden = names.length < 2;
  get("only").hidden = names.length > 1;
  get("only").textContent = `${view.budget.replace("_", " ")} left`;
  layTimeline();
  layBudget(view.budget);
}

/** A run that goes on sends its news: the page is laid again, once for all that came since the last frame. */
function listen() {
  const stream = new EventSource(page.live);
  let news = 0;
  const fresh = () => (news ||= requestAnimationFrame(() => {
    news = 0;
    lay();
    if (view.follow) go(run.visits.length - 1, true);
    else dress(), paint();
  }));
  stream.addEventListener("visit", ({ data }) => {
    const visit = readVisit(JSON.parse(data)), place = run.places.get(visit.path);
    if (place === undefined) run.places.set(visit.path, run.visits.push(visit) - 1);
    else run.visits[place] = visit;
    fresh();
  });
  const head = ({ data }) => {
    page.head = JSON.parse(data);
    const [tone, words] = page.head.outcome;
    const made = page.head.chips.map(([tone, words]) => h("li", { class: `chip ${tone}` }, words));
    get("chips").replaceChildren(h("li", { class: `chip outcome ${tone}` }, said(words)), ...made);
    fresh();
  };
  stream.addEventListener("head", head);
  stream.addEventListener("end", (event) => {
    head(event), stream.close();
    get("link").textContent = "";
    get("news").textContent = `The run has ended: ${page.head.outcome[1]}`;
  });
  stream.addEventListener("error", () => (get("link").textContent = "no connection, trying again"));
  stream.addEventListener("open", () => (get("link").textContent = "live"));
}

root.classList.add("js");
wakeGraph(choose);
readLink();
lay();
wake();
dress();
fit();
if (!view.table) showRow(view.step);
paint();
if (page.live !== null) listen();
