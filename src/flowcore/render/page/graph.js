// The graph: which nodes ran and which ways were taken up to a step. Python laid it out; here it is coloured.
const frame = get("view"), svg = frame.querySelector("svg");
const parts = new Map(), badges = new Map();
let zoom = 0;

function wakeGraph() {
  if (!svg) return;
  set(svg, { role: "group", "aria-label": "Graph", "aria-labelledby": false });
  for (const part of svg.querySelectorAll("g[id]")) parts.set(part.id, part);
  for (const [path, id] of ids) {
    const part = parts.get(id), inside = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (!part) continue;
    const name = [...part.querySelectorAll("text")].map((words) => words.textContent).join(" ");
    const [, ...kinds] = part.classList; // the first one says what the whole run did
    set(part, { "data-kinds": kinds.join(" "), tabindex: 0, role: "button", "data-path": path, "data-name": name + (inside && ` in ${inside}`) });
    part.querySelector(".small")?.before(" "); // two words for who reads them aloud
    const { x, y, width } = part.querySelector("rect").getBBox();
    const badge = h("g", { "aria-hidden": true, "data-of": path }, h("rect", { rx: 9, height: 18, y: y - 10 }), h("text", { x: x + width - 2, y: y + 3 }));
    badges.set(id, badge);
    part.parentNode.append(badge);
  }
}

/** Fits the graph to its panel as long as it can still be read; else it is scrolled. */
function fit() {
  if (!svg) return 1;
  const [width, height] = ["width", "height"].map((name) => +svg.getAttribute(name));
  const wide = (frame.clientWidth - 16) / width, whole = Math.min(wide, (frame.clientHeight - 16) / height, 1.3);
  const scale = zoom || Math.max(whole, Math.min(0.62, wide), 0.4);
  set(svg, { style: { width: `${width * scale}px`, height: `${height * scale}px` } });
  return scale;
}

/** How the nodes stand at a step. A visit is left when all that stands in it is over. */
function standing(step) {
  const nodes = new Map(), edges = new Set();
  for (const visit of visits.slice(0, step + 1)) {
    const node = nodes.get(visit.id) ?? { ran: 0, failed: 0, again: 0 }, over = visit.last <= step;
    nodes.set(visit.id, node);
    node.ran++;
    node.again += Math.max(0, visit.attempts - 1);
    node.last = over ? visit.outcome : "running";
    edges.add((visit.finish ? page.finish : page.start)[visit.id]);
    if (over) edges.add(wayOf(visit)?.[0]);
    if (over && visit.failure) node.failed++;
  }
  return { nodes, edges };
}

function stateOf(node) {
  if (!node) return "unused";
  if (/failed|unfinished|running/.test(node.last)) return node.last;
  return node.failed || node.again ? "retried" : "ok";
}

function badgeOf({ ran, again, last }, state) {
  if (state === "retried") return `↻${Math.max(ran, again + 1)}`;
  if (state === "ok" && ran > 1) return `×${ran}`;
  return page.signs[state === "ok" ? last : state] + (state === "failed" && ran > 1 ? ran : "");
}

function labelOf({ ran, failed, again, last }, state) {
  return joined(", ", `ran ${times(ran)}`, failed && state !== "failed" && `failed ${times(failed)}`, again && `tried again ${times(again)}`,
    last === "retried" ? "ok" : last);
}

function paintGraph(step, comparing) {
  const { nodes, edges } = standing(step), current = visits[step]?.id, theirs = comparing ? page.other.edges : [];
  for (const [id, badge] of badges) {
    const part = parts.get(id), node = nodes.get(id), state = stateOf(node);
    set(part, { class: `${part.dataset.kinds} ${state}${id === current ? " current" : ""}`, "aria-label": `${part.dataset.name}, ${node ? labelOf(node, state) : "did not run"}`, "aria-current": id === current && "step" });
    set(badge, { class: node ? `badge ${state}` : "none" });
    const [box, words] = badge.children;
    words.textContent = node ? badgeOf(node, state) : "";
    const width = Math.max(18, 7 * words.textContent.length + 6);
    set(box, { width, x: words.getAttribute("x") - width / 2 });
  }
  for (const [id, { classList }] of parts) {
    if (!classList.contains("edge")) continue;
    classList.toggle("taken", edges.has(id));
    classList.toggle("other", theirs.includes(id));
  }
  fill("ran", `${nodes.size} of ${ids.size} nodes ran`);
  if (parts.has(current) && frame.scrollHeight > frame.clientHeight + 20) reveal(parts.get(current));
}

function reveal(part) {
  const box = part.getBoundingClientRect(), around = frame.getBoundingClientRect();
  for (const [near, far, scroll] of [["top", "bottom", "scrollTop"], ["left", "right", "scrollLeft"]])
    if (box[near] < around[near] || box[far] > around[far]) frame[scroll] += (box[near] + box[far] - around[near] - around[far]) / 2;
}
