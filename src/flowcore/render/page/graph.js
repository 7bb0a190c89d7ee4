// The graph: which nodes ran and which ways were taken up to a step. Python laid it out; here it is coloured.
const SVG = "http://www.w3.org/2000/svg";
const svg = document.querySelector("#graph svg");
const parts = new Map(), badges = new Map();
const STATES = ["ok", "failed", "retried", "unused", "taken", "other", "current", "unfinished", "running"];
let zoom = 0;

function shape(tag, props, words = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
  made.textContent = words;
  return made;
}

function wakeGraph(choose) {
  if (!svg) return;
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "Graph");
  svg.removeAttribute("aria-labelledby");
  for (const part of svg.querySelectorAll("g[id]")) parts.set(part.id, part);
  for (const [path, id] of ids) {
    const part = parts.get(id);
    if (!part) continue;
    part.setAttribute("tabindex", "0");
    part.setAttribute("role", "button");
    const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    part.dataset.path = path;
    part.dataset.name = [...part.querySelectorAll("text")].map((words) => words.textContent).join(" ") + (above && ` in ${above}`);
    part.addEventListener("click", () => choose(path));
    part.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choose(path), event.preventDefault(), event.stopPropagation();
    });
    part.querySelector(".small")?.before(" "); // two words for who reads them aloud
    const box = part.querySelector("rect").getBBox();
    const badge = shape("g", { "aria-hidden": "true", "data-of": path });
    badge.append(shape("rect", { rx: 9, height: 18 }), shape("text", {}));
    badge.dataset.x = box.x + box.width - 2;
    badge.dataset.y = box.y - 1;
    badges.set(id, badge);
    part.parentNode.append(badge);
  }
}

/** Fits the graph to its panel as long as it can still be read; else it is scrolled. */
function fit() {
  if (!svg) return;
  const view = get("view"), width = +svg.getAttribute("width"), height = +svg.getAttribute("height");
  const whole = Math.min((view.clientWidth - 16) / width, (view.clientHeight - 16) / height, 1.3);
  const scale = zoom || Math.max(whole, Math.min(0.62, (view.clientWidth - 16) / width), 0.4);
  svg.style.width = `${width * scale}px`;
  svg.style.height = `${height * scale}px`;
  return scale;
}

/** How the nodes stand at a step. A visit is left when all that stands in it is over. */
function standing(step) {
  const nodes = new Map(), edges = new Set();
  for (let place = 0; place <= step; place++) {
    const visit = run.visits[place];
    let node = nodes.get(visit.id);
    if (!node) nodes.set(visit.id, (node = { visits: 0, failed: 0, again: 0, last: "" }));
    const over = visit.last <= step;
    node.visits++;
    node.again += Math.max(0, visit.attempts - 1);
    node.last = over ? visit.outcome : "running";
    if (visit.failure && over) node.failed++;
    edges.add(edgesInto(visit));
    if (over) edges.add(edgeOut(visit));
  }
  return { nodes, edges };
}

function stateOf(node) {
  if (!node) return "unused";
  if (["failed", "unfinished", "running"].includes(node.last)) return node.last;
  return node.failed || node.again ? "retried" : "ok";
}

function badgeOf(node, state) {
  if (state === "failed") return node.visits > 1 ? `✕${node.visits}` : "✕";
  if (state === "retried") return `↻${Math.max(node.visits, node.again + 1)}`;
  if (state === "running" || state === "unfinished") return SIGNS[state];
  return node.visits > 1 ? `×${node.visits}` : SIGNS[node.last] ?? "✓";
}

function labelOf(name, node, state) {
  if (!node) return `${name}, did not run`;
  const failed = node.failed && state !== "failed" ? `, failed ${times(node.failed)}` : "";
  const again = node.again ? `, tried again ${times(node.again)}` : "";
  return `${name}, ran ${times(node.visits)}${failed}${again}, ${node.last === "retried" ? "ok" : node.last}`;
}

function paintGraph(step, comparing) {
  const { nodes, edges } = standing(step), current = run.visits[step];
  for (const [path, id] of ids) {
    const part = parts.get(id);
    if (!part) continue;
    const node = nodes.get(id), state = stateOf(node);
    part.classList.remove(...STATES);
    part.classList.add(state);
    part.classList.toggle("current", id === current?.id);
    part.setAttribute("aria-label", labelOf(part.dataset.name, node, state));
    if (id === current?.id) part.setAttribute("aria-current", "step");
    else part.removeAttribute("aria-current");
    paintBadge(badges.get(id), node ? badgeOf(node, state) : "", state);
  }
  const theirs = new Set(comparing ? page.other.edges : []);
  for (const [id, part] of parts) {
    if (!part.classList.contains("edge")) continue;
    part.classList.toggle("taken", edges.has(id));
    part.classList.toggle("other", theirs.has(id));
  }
  const ran = [...ids.values()].filter((id) => nodes.has(id)).length;
  get("ran").textContent = `${ran} of ${ids.size} nodes ran`;
  const part = parts.get(current?.id);
  if (part && get("view").scrollHeight > get("view").clientHeight + 20) reveal(part);
}

function paintBadge(badge, words, state) {
  badge.setAttribute("class", words ? `badge ${state}` : "none");
  if (!words) return;
  const width = Math.max(18, 7 * words.length + 6), [box, label] = badge.children;
  box.setAttribute("width", width);
  box.setAttribute("x", badge.dataset.x - width / 2);
  box.setAttribute("y", badge.dataset.y - 9);
  label.setAttribute("x", badge.dataset.x);
  label.setAttribute("y", +badge.dataset.y + 4);
  label.textContent = words;
}

function reveal(part) {
  const view = get("view"), box = part.getBoundingClientRect(), around = view.getBoundingClientRect();
  if (box.top < around.top || box.bottom > around.bottom) {
    view.scrollTop += (box.top + box.bottom - around.top - around.bottom) / 2;
  }
  if (box.left < around.left || box.right > around.right) {
    view.scrollLeft += (box.left + box.right - around.left - around.right) / 2;
  }
}
