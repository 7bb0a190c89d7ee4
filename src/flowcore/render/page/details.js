// The details of a step: what it changed, what it called and told, how it failed, and why it went on as it did.
const SHORT = 480, TABLE_ROWS = 200;

/** A value of the run. Of a long one the beginning, and the rest at the press of a button. */
function value(words) {
  if (words.length <= SHORT + 80) return h("bdi", { class: "value" }, words);
  const held = h("bdi", { class: "value" }, `${words.slice(0, SHORT)}…`);
  const more = h("button", { class: "more" }, `show all ${number(words.length)} characters`);
  more.addEventListener("click", () => (held.replaceChildren(words), more.remove()));
  return h("span", {}, held, " ", more);
}

function changeLines([kind, place, was, now]) {
  const line = (sign, name, joint, words) => h("li", { class: sign === "+" ? "ok" : "error" },
    h("b", {}, `${sign} `, said(text(place))), joint ? ` ${joint} ` : "", joint ? value(words) : "");
  const lines = [];
  if (kind === "removed" || kind === "changed") lines.push(line("−", "was", "=", text(was)));
  if (kind !== "removed") lines.push(line("+", "now", kind === "appended" ? "+=" : "=", text(now)));
  return lines;
}

function changesOf(visit, place) {
  const found = visit.changes.flatMap(([kind, ...rest]) => changeLines([text(kind), ...rest]));
  const made = [h("h3", {}, "State changes"), found.length ? h("ul", { class: "changes" }, ...found) : h("p", { class: "soft" }, "No change.")];
  const fields = place === 0 ? Object.entries(page.state) : [];
  if (fields.length) {
    const lines = fields.map(([name, shown]) => h("li", {}, h("b", {}, said(name)), " = ", value(shown)));
    made.push(h("h3", {}, "The run began with"), h("ul", { class: "changes" }, ...lines));
  }
  return made;
}

const fault = ([type, message]) => h("div", { class: "fault" }, h("b", {}, said(text(type))), value(text(message)));

function callsOf(visit) {
  const made = [];
  let before = visit.started;
  visit.retried.forEach(([at, failure], attempt) => {
    made.push(h("li", {}, h("i", {}, "↻ "), h("b", {}, `attempt ${attempt + 1} failed`), h("span", { class: "took" }, time(at - before)), fault(failure)));
    before = at;
  });
  for (const [model, started, ended, tokens, cost, failure] of visit.calls) {
    const spent = [tokens && `${number(tokens)} tokens`, cost && `cost ${number(cost)}`].filter(Boolean).join(", ");
    made.push(h("li", {}, h("i", {}, failure ? "✕ " : "✓ "), h("b", {}, "model ", said(text(model))),
      h("span", { class: "took" }, ended < 0 ? "under way" : time(ended - started)),
      h("div", { class: "soft" }, spent), failure ? fault(failure) : ""));
  }
  for (const [kind, name, words, at] of visit.said) {
    const what = text(kind) === "artifact" ? "artifact" : "event";
    made.push(h("li", {}, h("i", {}, what === "artifact" ? "▣ " : "◆ "), h("b", {}, `${what} `, said(text(name))),
      h("span", { class: "took" }, `at ${time(at)}`), h("div", {}, value(text(words)))));
  }
  const head = h("h3", {}, "Calls and events");
  return [head, made.length ? h("ul", { class: "calls" }, ...made) : h("p", { class: "soft" }, visit.last > run.places.get(visit.path) ? "See the steps inside." : "None.")];
}

const ENDINGS = {
  complete: ["completes", "here it ends"], join: ["to the join", "the branch is through"],
  failed: ["no route", "nothing takes this failure"], running: ["under way", ""],
};

function routeOf(visit, place) {
  const ways = routes.get(visit.id) ?? [], mine = ways[visit.edge];
  const made = [h("h3", {}, visit.failure ? "Error and route" : "Why this route")];
  const [head, reason] = ENDINGS[visit.kind] ?? [visit.target && "to ", ""];
  if (visit.kind === "unfinished") made.push(h("p", { class: "to" }, "not finished"), h("p", { class: "soft" }, visit.dropped ? "no longer needed" : "the run ended first"));
  else made.push(h("p", { class: "to" }, head, visit.target ? said(visit.target) : ""));
  const only = ways.filter(([, kind]) => kind !== "error").length === 1;
  const words = { next: only ? "the only route" : "the way on", label: ["label “", said(visit.label), "”"], error: ["error route: ", said(mine?.[2] ?? visit.label)],
    over_limit: `the way out, ${mine?.[2] ?? "over the limit"}` }[visit.kind] ?? reason;
  made.push(h("p", { class: "soft" }, ...[words].flat()));
  if (visit.finish) made.push(h("p", {}, `The finish path began here, since ${visit.finish.replace("_", " ")} ran out.`));
  if (visit.why.length) {
    made.push(h("dl", { class: "why" }, ...visit.why.flatMap(([key, shown]) => [h("dt", {}, said(text(key))), h("dd", {}, value(text(shown)))])));
  }
  if (visit.failure) made.push(fault(visit.failure));
  if (visit.failure && visit.attempts > 1) made.push(h("p", { class: "soft" }, `after ${visit.attempts} attempts`));
  const others = ways.filter((way) => way !== mine && way[1] !== "end" && way[1] !== "join");
  if (others.length && visit.kind !== "running") {
    const line = ([, kind, label, target]) => h("li", { class: kind }, label ? said(label) : "without an error", " → ", said(target));
    made.push(h("h3", {}, "Not taken"), h("ul", { class: "others" }, ...others.map(line)));
  }
  const last = run.visits.findLastIndex((other) => !other.path.includes("/"));
  if (place === last && page.head.value) made.push(h("h3", {}, "The result"), h("div", { class: "result" }, value(page.head.value)));
  return made;
}

function paintDetails(step) {
  const visit = run.visits[step], title = get("step-title"), words = get("step-words");
  if (!visit) return title.replaceChildren("Waiting for the first step"), words.replaceChildren();
  title.replaceChildren(`Step ${number(step + 1)}: `, said(visit.name));
  const inside = visit.last - step;
  const facts = [visit.round ? `round ${number(visit.round)}` : "before round 1", `${SIGNS[visit.outcome]} ${visit.outcome}`,
    visit.attempts > 1 && `${visit.attempts} attempts`, took(visit), inside && `${number(inside)} steps inside`, visit.dropped && "dropped"];
  words.replaceChildren(facts.filter(Boolean).join(", "), " ", h("code", {}, said(visit.path)));
  get("changes").replaceChildren(...changesOf(visit, step));
  get("calls").replaceChildren(...callsOf(visit));
  get("route").replaceChildren(...routeOf(visit, step));
}

/** The step as one sentence, for who listens. */
function spoken(step) {
  const visit = run.visits[step];
  const goes = visit.target ? `goes to ${visit.target}` : (ENDINGS[visit.kind]?.[0] ?? "");
  return [`Step ${step + 1} of ${run.visits.length}: ${visit.name}`, visit.outcome, visit.round && `round ${visit.round}`,
    visit.failure && text(visit.failure[0]), goes, visit.kind === "label" && visit.label].filter(Boolean).join(", ");
}

/** The table, a page of it at a time: the one with the step. */
function paintTable(step, most = TABLE_ROWS) {
  const first = Math.floor(Math.max(step, 0) / most) * most, body = get("cells");
  const key = `${first} ${most} ${run.visits.length} ${page.head.status}`;
  if (body.dataset.key !== key) {
    body.dataset.key = key;
    body.replaceChildren(...run.visits.slice(first, first + most).map((visit, at) => tableRow(visit, first + at)));
    const until = Math.min(first + most, run.visits.length);
    get("pages").hidden = run.visits.length <= most;
    get("page-words").textContent = `Steps ${number(first + 1)} to ${number(until)} of ${number(run.visits.length)}`;
    get("page-back").disabled = first === 0;
    get("page-on").disabled = until === run.visits.length;
  }
  for (const row of body.querySelectorAll(".current")) row.classList.remove("current"), row.removeAttribute("aria-current");
  const row = body.children[step - first];
  row?.classList.add("current");
  row?.setAttribute("aria-current", "step");
  row?.scrollIntoView({ block: "nearest" });
}

const brief = (words) => (words.length > 160 ? `${words.slice(0, 160)}…` : words);

function tableRow(visit, place) {
  const cell = (...words) => h("td", {}, ...words);
  const why = visit.why.map(([key, shown]) => `${text(key)} = ${text(shown)}`).join(", ");
  const changes = visit.changes.slice(0, 12).map(([kind, at, , now]) => h("li", {}, said(
    text(kind) === "removed" ? `− ${text(at)}` : `+ ${text(at)} ${text(kind) === "appended" ? "+=" : "="} ${brief(text(now))}`)));
  const words = visit.failure ? `${visit.outcome}: ${text(visit.failure[0])}: ${brief(text(visit.failure[1]))}` : visit.outcome;
  const tag = visit.branch && visit.branch !== visit.name ? `${visit.branch} ` : "";
  return h("tr", { class: visit.outcome.replace(" ", "-") },
    cell(h("button", { class: "go", "data-place": place, "aria-label": `go to step ${place + 1}` }, String(place + 1))), cell(visit.round ? String(visit.round) : ""),
    h("th", { scope: "row", title: visit.path }, h("span", { style: { "padding-left": `${(visit.names.length - 1) * 12}px` } }, said(tag + visit.name))),
    cell(h("i", {}, `${SIGNS[visit.outcome]} `), said(words)), cell(time(visit.started)), cell(took(visit)),
    cell(said(visit.target || (visit.kind === "complete" ? "the end" : ""))), cell(said([visit.label, why].filter(Boolean).join(": "))),
    cell(changes.length ? h("ul", {}, ...changes) : ""));
}
