// The page: which step is looked at and how, the keys and links for it, and the news of a run that goes on.
const root = document.documentElement, slider = get("slider"), theirs = page.other;
const dark = matchMedia("(prefers-color-scheme: dark)"), paper = matchMedia("print");
const view = { step: 0, comparing: false, table: false, theme: root.dataset.theme, budget: "", follow: page.live !== null };
let playing = 0, due = 0, shown = -1;

const last = () => visits.length - 1;
const within = (step) => Math.min(Math.max(step, 0), last());
const isDark = () => view.theme === "dark" || (view.theme === "auto" && dark.matches);
const limit = () => page.head.limits.find(([name]) => name === view.budget);
const tell = (words) => fill("news", words);

function paint() {
  due = 0;
  const { table, comparing } = view, step = (view.step = within(view.step)), count = visits.length, printing = paper.matches;
  dress();
  set(slider, { max: Math.max(count, 1), "aria-valuetext": count ? spoken(step) : "no step yet" });
  slider.value = step + 1;
  fill("place", count ? `step ${number(step + 1)} of ${number(count)}` : "no step yet");
  paintGraph(step, comparing);
  if (table || printing) paintTable(step, printing ? 2000 : undefined);
  if (!table && shown !== step) showRow(step);
  if (!table || printing) paintTimeline(step, comparing, printing);
  paintBudget(limit(), step);
  if (count || shown < 0) paintDetails(step);
  shown = table ? -1 : step;
}
/** Shows what changed, at the next frame. */
const soon = () => (due ||= requestAnimationFrame(paint));

/** What the buttons say, and the link to all this. */
function dress() {
  const { step, table, comparing, theme, follow } = view;
  root.dataset.theme = theme;
  root.classList.toggle("comparing", comparing);
  if (table !== root.classList.contains("tabled")) root.classList.toggle("tabled", table), fit();
  for (const [id, pressed] of Object.entries({ compare: comparing, tabled: table, follow })) get(id)?.setAttribute("aria-pressed", pressed);
  fill("replay", playing ? "Pause" : "Replay");
  fill("theme", isDark() ? "Light" : "Dark");
  fill("differs", comparing ? said(theirs.heading) : `${number(visits.length)} steps; marks are calls of models and tools`);
  const link = new URLSearchParams({ ...(!follow && { step: step + 1 }), ...(theirs && { cmp: +comparing }), ...(theme !== "auto" && { theme }), ...(table && { view: "table" }) });
  if (`#${link}` === location.hash) return;
  try { history.replaceState(null, "", `#${link}`); } catch { /* a frame without an address of its own */ }
}

function readLink() {
  const link = new URLSearchParams(location.hash.slice(1)), theme = link.get("theme");
  view.comparing = Boolean(theirs) && link.get("cmp") !== "0";
  const step = link.get("step") || (view.comparing && theirs.apart + 1);
  if (step > 0) Object.assign(view, { step: within(step - 1), follow: false });
  view.table = link.get("view") === "table";
  if (/^(light|dark|auto)$/.test(theme)) view.theme = theme;
  soon();
}

function go(step) {
  if (!visits.length) return;
  Object.assign(view, { step: within(step), follow: false });
  tell(spoken(view.step));
  soon();
}

function compare() {
  if (!theirs) return;
  view.comparing = !view.comparing;
  if (view.comparing && theirs.apart >= 0) go(theirs.apart);
  tell(view.comparing ? theirs.words : "no longer compared");
  soon();
}

function replay() {
  clearInterval(playing);
  soon();
  if (playing) return (playing = 0);
  if (view.step >= last()) go(0);
  const hop = Math.max(1, Math.round(visits.length / 120));
  playing = setInterval(() => {
    go(view.step + hop);
    if (view.step >= last()) replay();
  }, last() >= 40 ? 250 : 600);
}

/** The first step of the next round, or of this one or the one before it. */
function hopRound(way) {
  const at = run.groups.findLastIndex(({ from }) => from <= view.step), inside = run.groups[at]?.from < view.step;
  go(run.groups[way > 0 ? at + 1 : Math.max(0, inside ? at : at - 1)]?.from ?? view.step);
}
/** The next step of those that fit, and after the last one the first. */
function goOn(fits) {
  const found = [...visits.keys()].filter((place) => fits(visits[place]));
  if (found.length) go(found.find((place) => place > view.step) ?? found[0]);
  else tell("there is none");
}
const choose = (path) => goOn(({ declared }) => declared === path);
function unfold(round) {
  if (!unfolded.delete(round)) unfolded.add(round);
  layTimeline();
  soon();
}
function enlarge(scale) {
  zoom = scale && Math.min(Math.max(scale, 0.2), 3);
  fit();
}

/** What keys do, and the buttons that name one. */
const KEYS = {
  ArrowLeft: () => go(view.step - 1), ArrowRight: () => go(view.step + 1), Home: () => go(0), End: () => go(last()),
  "[": () => hopRound(-1), "]": () => hopRound(1), e: () => goOn(wrong), " ": replay, c: compare,
  t: () => ((view.table = !view.table), soon()), d: () => ((view.theme = isDark() ? "light" : "dark"), soon()),
  "+": () => enlarge(fit() * 1.25), "-": () => enlarge(fit() / 1.25), 0: () => enlarge(0), "?": () => get("help").showModal(),
  earlier: () => go(view.step - TABLE_ROWS), later: () => go(view.step + TABLE_ROWS), follow: () => (Object.assign(view, { follow: true, step: last() }), soon()),
};

function pressed(event) {
  const { key, target } = event, button = target.closest("button, [role=button]");
  if (event.ctrlKey || event.metaKey || event.altKey || get("help").open || target.closest("select")) return;
  const act = button && /^(Enter| )$/.test(key) ? button.dataset.path && (() => choose(button.dataset.path)) : KEYS[key] ?? KEYS[key.toLowerCase()];
  if (act) event.preventDefault(), act();
}

function wake() {
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", ({ target }) => {
    const { key, path, place, fold } = target.closest("[data-key], [data-path], [data-place], [data-fold]")?.dataset ?? {};
    if (key) KEYS[key]();
    else if (path) choose(path);
    else if (place) go(+place);
    else if (fold) unfold(+fold);
  });
  slider.addEventListener("input", () => go(slider.value - 1));
  rowsBox.addEventListener("scroll", () => paintTimeline(view.step, view.comparing));
  get("dimension").addEventListener("change", ({ target }) => ((view.budget = target.value), layBudget(limit()), soon()));
  addEventListener("resize", () => (fit(), soon()));
  addEventListener("hashchange", readLink);
  dark.addEventListener("change", soon);
  paper.addEventListener("change", paint);
}

function lay() {
  settle();
  const names = page.head.limits.map(([name]) => name), choice = get("dimension");
  if (!names.includes(view.budget)) view.budget = names[0] ?? "";
  if (choice.length !== names.length) fill("dimension", names.map((name) => h("option", { value: name }, `${name} left`)));
  choice.value = view.budget;
  choice.hidden = names.length < 2;
  fill("only", names.length > 1 ? "" : `${view.budget} left`);
  layTimeline();
  layBudget(limit());
}

/** A run that goes on sends its news: the page is laid again, once for all that came since the last frame. */
function listen() {
  const stream = new EventSource(page.live);
  let news = 0;
  const fresh = () => (news ||= requestAnimationFrame(() => {
    news = 0;
    lay();
    if (view.follow) view.step = last();
    paint();
  }));
  const head = ({ data }) => {
    page.head = JSON.parse(data);
    const { outcome: [tone, words, sign], chips } = page.head;
    fill("chips", h(`li.chip.outcome.${tone}`, { "data-sign": sign }, said(words)), chips.map(([tone, words]) => h("li", { class: `chip ${tone}` }, words)));
    fresh();
  };
  const heard = {
    visit({ data }) {
      const visit = readVisit(JSON.parse(data)), place = places.get(visit.path);
      if (place === undefined) places.set(visit.path, visits.push(visit) - 1);
      else visits[place] = visit;
      fresh();
    },
    head,
    end(event) {
      head(event), stream.close();
      fill("link", "");
      tell(`The run has ended: ${page.head.outcome[1]}`);
    },
    error: () => fill("link", "no connection, trying again"),
    open: () => fill("link", "live"),
  };
  for (const [name, hear] of Object.entries(heard)) stream.addEventListener(name, hear);
}

root.classList.add("js");
const failed = page.head.status === "failed" ? visits.findLastIndex(wrong) : -1;
view.step = failed < 0 ? last() : failed; // the end of the run; of one that failed, where it did
wakeGraph();
wake();
readLink();
lay();
fit();
paint();
if (page.live !== null) listen();
