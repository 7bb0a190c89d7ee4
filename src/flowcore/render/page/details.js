// The details of a step: what it changed, what it called and told, how it failed, and why it went on as it did.
const SHORT = 480, BRIEF = 120, TABLE_ROWS = 200;

/** A value of the run. Of a long one the beginning, and the rest at the press of a button. */
function value(words) {
  if (words.length <= SHORT + 80) return h("bdi.value", words);
  const held = h("bdi.value", `${words.slice(0, SHORT)}…`), more = h("button.more", `show all ${number(words.length)} characters`);
  more.onclick = () => (held.replaceChildren(words), more.remove());
  return h("span", held, " ", more);
}

const fault = ([type, message]) => h("div.fault", h("b", said(text(type))), value(text(message)));
const listed = (kind, items, none) => (items.length ? h(`ul.${kind}`, items) : soft(none));

function changesOf(visit, place) {
  const line = (sign, name, joint, words) => h(`li.${sign === "+" ? "ok" : "error"}`, h("b", `${sign} `, said(text(name))), ` ${joint} `, value(text(words)));
  const lines = visit.changes.flatMap(([sign, name, joint, now, was]) => [text(was) && line("−", name, "=", was), line(sign, name, joint, now)]);
  const began = place ? [] : Object.entries(page.state).map(([name, shown]) => h("li", h("b", said(name)), " = ", value(shown)));
  return [h("h3", "State changes"), listed("changes", lines, "No change."), ...(began.length ? [h("h3", "The run began with"), h("ul.changes", began)] : [])];
}

function entryOf([sign, what, name, from, until, words, texts, failure]) {
  const told = text(words);
  return h("li", h("i", `${sign} `), h("b", `${what} `, said(text(name))), h("span.took", until === from ? `at ${time(from)}` : took(from, until)),
    told && h("div.soft", said(told)), texts.map((shown, at) => h("div", at && "→ ", value(text(shown)))), failure && fault(failure));
}

function routeOf(visit, place) {
  const way = wayOf(visit), [end, because] = page.ends[visit.kind] ?? [];
  const made = [h("h3", visit.failure ? "Error and route" : "Why this route"), h("p.to", visit.target ? ["to ", said(visit.target)] : end)];
  if (way?.[4]) made.push(soft(way[4], way[2] && ": ", said(way[2])));
  else made.push(soft(visit.dropped && visit.kind === "unfinished" ? "no longer needed" : because));
  if (visit.finish) made.push(h("p", visit.finish));
  if (visit.why.length) made.push(h("dl.why", visit.why.flatMap(([name, shown]) => [h("dt", said(text(name))), h("dd", value(text(shown)))])));
  if (visit.failure) made.push(fault(visit.failure));
  const others = goesOn(visit) ? [] : waysOf(visit).filter((other) => other !== way && other[3]);
  if (others.length) made.push(h("h3", "Not taken"), h("ul.others", others.map(([, kind, words, target]) => h(`li.${kind}`, said(words) || "without an error", " → ", said(target)))));
  const last = visits.findLastIndex(({ depth }) => !depth);
  if (place === last && page.head.value) made.push(h("h3", "The result"), h("div", value(page.head.value)));
  return made;
}

function paintDetails(step) {
  const visit = visits[step], inside = visit?.last - step;
  fill("step-title", visit ? [`Step ${number(step + 1)}: `, said(visit.name)] : "Waiting for the first step");
  if (!visit) return;
  fill("step-words", joined(", ", visit.round ? `round ${number(visit.round)}` : "before round 1", `${visit.sign} ${visit.outcome}`,
    visit.attempts > 1 && `${visit.attempts} attempts`, took(visit.started, visit.ended), inside && `${number(inside)} steps inside`, visit.dropped && "dropped"));
  fill("path", said(visit.path));
  fill("changes", changesOf(visit, step));
  fill("calls", h("h3", "Calls and events"), listed("calls", visit.entries.map(entryOf), inside ? "See the steps inside." : "None."));
  fill("route", routeOf(visit, step));
}

/** The step as one sentence, for who listens. */
function spoken(step) {
  const { name, outcome, round, failure, target, kind, label } = visits[step];
  return joined(", ", `Step ${step + 1} of ${visits.length}: ${name}`, outcome, round && `round ${round}`, failure && text(failure[0]),
    target ? `goes to ${target}` : page.ends[kind]?.[0], kind === "label" && label);
}

/** The table, a page of it at a time: the one with the step. */
function paintTable(step, most = TABLE_ROWS) {
  const first = Math.floor(Math.max(step, 0) / most) * most, count = visits.length, until = Math.min(first + most, count), body = get("cells");
  const key = `${[first, most, count, page.head.status]}`;
  if (body.dataset.key !== key) {
    body.dataset.key = key;
    fill("cells", visits.slice(first, until).map((visit, at) => tableRow(visit, first + at)));
    get("pages").hidden = count <= most;
    fill("page-words", `Steps ${number(first + 1)} to ${number(until)} of ${number(count)}`);
  }
  for (const row of body.children) row.removeAttribute("aria-current");
  const row = body.children[step - first];
  row?.setAttribute("aria-current", "step");
  row?.scrollIntoView({ block: "nearest" });
}

const brief = (words) => (words.length > BRIEF ? `${words.slice(0, BRIEF)}…` : words);

function tableRow(visit, place) {
  const { depth, tag, name, outcome, sign, round, started, ended, label, failure } = visit;
  const fails = (failure) => failure && joined(": ", failure.map(text));
  const why = visit.why.map(([name, shown]) => `${text(name)} = ${text(shown)}`).join(", ");
  const changes = visit.changes.map(([sign, name, joint, now]) => `${sign} ${text(name)} ${joint} ${text(now)}`);
  const calls = visit.entries.map(([sign, what, name, , , words, texts, fault]) =>
    joined(": ", `${sign} ${what} ${text(name)}`, joined(" → ", text(words), texts.map(text), fails(fault))));
  const lines = (all) => all.length > 0 && h("ul", all.slice(0, 12).map((words) => h("li", said(brief(words)))));
  const cells = [said(brief(joined(": ", outcome, fails(failure)))), time(started), took(started, ended),
    said(visit.target) || (visit.kind === "complete" && "the end"), said(brief(joined(": ", label, why))), lines(changes), lines(calls)];
  const [end, ...rest] = cells.map((cell) => h("td", cell));
  end.prepend(h("i", `${sign} `));
  return h(`tr.${visit.tone}`, h("td", h("button.go", { "data-place": place, "aria-label": `go to step ${place + 1}` }, `${place + 1}`)), h("td", round && `${round}`),
    h("th", { scope: "row", title: visit.path }, h("span", { style: { paddingLeft: `${depth * 12}px` } }, said(joined(" ", tag, name)))), end, rest);
}
