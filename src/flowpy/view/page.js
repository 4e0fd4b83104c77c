"use strict";
(() => {
const NEW_LINE = /(?<!\\)((?:\\\\)*)\\n/g; // in a text of JSON: a traceback is read by people
const data = JSON.parse(document.getElementById("data").textContent);
const { rows, events, symbols, kinds, begin, end } = data;
const $ = (id) => document.getElementById(id);
const ROW = 24, SPARE = 6;

// Everything that comes from a history goes through textContent: nothing of it is ever markup.
const made = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

// --- times ---------------------------------------------------------------------------------------

const UNITS = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
const elapsed = (seconds) => {
  if (seconds < 0.9995) return seconds >= 0.0005 ? `${Math.round(seconds * 1000)}ms` : "0s";
  if (seconds < 59.95) return `${Math.round(seconds * 10) / 10}s`;
  let left = Math.round(seconds);
  const parts = UNITS.map(([size, unit]) => { const n = Math.floor(left / size); left -= n * size; return n ? n + unit : ""; });
  const first = parts.findIndex(Boolean);
  return parts.slice(first, first + 2).filter(Boolean).join(" ");
};
const clock = (seconds) => new Date((begin + seconds) * 1000).toISOString().replace("T", " ").replace("Z", " UTC");

const times = [...new Set([...events.map((event) => event[2]), end])].sort((a, b) => a - b);
const before = (time) => { // index of the last of times that is not after a time
  let low = 0, high = times.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (times[middle] <= time) low = middle; else high = middle - 1; }
  return low;
};
let byOrder = false, from = 0, to = 1; // the stretch shown, as fractions of the whole
const fractionOf = (time) => {
  if (!byOrder || times.length < 2) return end > 0 ? time / end : 0;
  const index = Math.min(before(time), times.length - 2);
  return (index + (time - times[index]) / (times[index + 1] - times[index])) / (times.length - 1);
};
const timeAt = (fraction) => {
  if (!byOrder || times.length < 2) return fraction * end;
  const place = Math.min(Math.max(fraction, 0), 1) * (times.length - 1), index = Math.min(Math.floor(place), times.length - 2);
  return times[index] + (place - index) * (times[index + 1] - times[index]);
};
const at = (time) => (fractionOf(time) - from) / (to - from);
// Times one after another: those that would read like one before them are told by how much later they are.
const toldOneByOne = (seconds) => {
  let base = "", first = 0;
  return seconds.map((time) => {
    const text = elapsed(time);
    if (text === base) return `+${elapsed(time - first)}`;
    [base, first] = [text, time];
    return text;
  });
};

// --- rows ----------------------------------------------------------------------------------------

const list = $("rows"), height = $("height"), tip = $("tip");
const ofEvent = new Map(); // event id: [row, bar]
rows.forEach((row, r) => row.bars.forEach((bar, b) => bar.events.forEach((id) => ofEvent.set(id, [r, b]))));
let shown = rows.map((_, r) => r), chosen = -1, chosenEvent = 0;
const hidden = new Set();
let trouble = false, wanted = "";
const drawn = new Map();

const barElements = (row, width) => {
  const found = [];
  let drawnTo = -1;
  const place = (element, left, right) => {
    element.style.left = `${Math.max(left, 0) * 100}%`;
    element.style.width = `${Math.max(Math.min(right, 1) - Math.max(left, 0), 0) * 100}%`;
    found.push(element);
  };
  row.bars.forEach((bar, b) => {
    const last = bar.closed === null ? end : bar.closed;
    const x = at(bar.scheduled), z = at(last), y = bar.started === null ? z : at(bar.started);
    if (z < 0 || x > 1) return;
    if (!bar.mark && z * width < drawnTo + 1) return; // thousands of decision tasks would stand on each other
    drawnTo = z * width;
    const symbol = symbols[bar.symbol];
    if ((y - x) * width > 0.5) place(made("span", `waits ${symbol.colour}`), x, y);
    if (bar.started !== null && !bar.point) {
      const style = bar.backOff ? "back-off" : `runs ${symbol.colour}${bar.left ? " left-open" : ""}`;
      place(made("span", style), y, z);
    }
    if (bar.mark && z >= 0 && z <= 1) {
      const mark = made("span", `end ${symbol.colour}`, symbol.text);
      mark.style.left = `${z * 100}%`;
      mark.dataset.bar = b;
      found.push(mark);
    }
  });
  return found;
};

// The end of a label stays to be seen where there is no room for all of it. What is written from right to left is one
// piece, for two would stand in the wrong order, and no letter is torn apart.
const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const letters = new Intl.Segmenter("en", { granularity: "grapheme" });
const pieces = (text) => {
  if (FROM_RIGHT.test(text)) return [text];
  const each = [...letters.segment(text)].map(({ segment }) => segment), keep = Math.min(9, each.length >> 1);
  return [each.slice(0, each.length - keep).join(""), each.slice(each.length - keep).join("")];
};

const rowElement = (r, index, width) => {
  const row = rows[r], element = made("div", `row${row.kind === 0 ? " run" : ""}`);
  element.id = `row-${r}`;
  element.setAttribute("role", "option");
  element.setAttribute("aria-selected", r === chosen);
  element.style.top = `${index * ROW}px`;
  element.dataset.row = r;
  const label = made("span", "label");
  label.append(...pieces(row.label).map((piece) => made("span", "name", piece)));
  const track = made("span", "track");
  track.append(...barElements(row, width));
  element.append(label, track, made("span", `note ${symbols[row.bars[row.bars.length - 1].symbol].colour}`, row.note));
  element.setAttribute("aria-label", `${row.label}: ${row.note || row.bars[row.bars.length - 1].outcome}`);
  return element;
};

let waiting = false;
const draw = (all) => {
  if (all) { drawn.forEach((element) => element.remove()); drawn.clear(); }
  const width = $("axis").clientWidth;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
  drawn.forEach((element, index) => { if (index < first || index >= last) { element.remove(); drawn.delete(index); } });
  for (let index = first; index < last; index++) {
    if (drawn.has(index)) continue;
    const element = rowElement(shown[index], index, width);
    drawn.set(index, element);
    height.append(element);
  }
};
const later = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(false); });
};
const longest = Math.max(...rows.map((row) => row.label.length));
const redraw = () => {
  // Labels get what they need, and no more than leaves room for the bars.
  const room = innerWidth * (innerWidth > 760 ? 0.24 : 0.32);
  document.documentElement.style.setProperty("--label", `${Math.round(Math.min(Math.max(longest * 7.6 + 30, 110), room))}px`);
  drawAxis();
  draw(true);
  drawCursor();
};

// --- axis ----------------------------------------------------------------------------------------

const STEPS = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
  3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 5184000, 7776000, 15552000, 31536000];
const drawAxis = () => {
  const axis = $("axis"), width = axis.clientWidth, most = Math.max(2, Math.floor(width / 70));
  axis.replaceChildren();
  document.querySelectorAll(".grid").forEach((line) => line.remove());
  const tick = (place, text) => {
    const element = made("span", "tick", text);
    element.style.left = `${place * 100}%`;
    axis.append(element);
    const line = made("span", "grid");
    line.style.left = `${axis.offsetLeft + place * width}px`;
    height.append(line);
  };
  const ticks = (found) => toldOneByOne(found).forEach((text, n) => tick(at(found[n]), text));
  if (byOrder && times.length > 1) {
    const last = times.length - 1, first = Math.ceil(from * last - 1e-6);
    const end = Math.floor(from * last + (to - from) * last * 0.985), step = Math.ceil((end - first + 1) / most);
    ticks(times.slice(first, end + 1).filter((_, n) => n % step === 0));
    return;
  }
  const low = from * end, span = (to - from) * end;
  const step = STEPS.find((each) => span / each < most) || span / most;
  if (!(span > 0)) { tick(0, "0s"); return; }
  const found = [];
  for (let time = Math.ceil(low / step - 1e-6) * step; time <= low + span * 0.985; time += step) found.push(time);
  ticks(found);
};
const drawCursor = () => {
  const old = $("cursor");
  if (old) old.remove();
  if (!chosenEvent) return;
  const place = at(events[chosenEvent - 1][2]);
  if (place < 0 || place > 1) return;
  const cursor = made("div"), axis = $("axis");
  cursor.id = "cursor";
  cursor.style.left = `${axis.offsetLeft + place * axis.clientWidth}px`;
  height.append(cursor);
};
// SWF's times are milliseconds: nothing is to be seen between two of them, nor between two events.
const narrowest = () => byOrder ? 1 / Math.max(times.length - 1, 1) : end > 0 ? Math.min(0.002 / end, 1) : 1;
const zoom = (factor, around = (from + to) / 2) => {
  const width = Math.min(1, Math.max((to - from) * factor, narrowest()));
  const left = Math.min(Math.max(around - (around - from) * (width / (to - from)), 0), 1 - width);
  [from, to] = [left, left + width];
  redraw();
};
const pan = (part) => {
  const width = to - from, left = Math.min(Math.max(from + part * width, 0), 1 - width);
  [from, to] = [left, left + width];
  redraw();
};
const fit = () => { [from, to] = [0, 1]; redraw(); };

// --- filters -------------------------------------------------------------------------------------

let texts = null;
const textOf = (r) => {
  if (!texts) texts = rows.map((row) => [row.label, row.name, row.note, kinds[row.kind].name,
    ...row.bars.flatMap((bar) => [bar.id, bar.said, bar.place, ...bar.events.map((id) => `${events[id - 1][1]} ${JSON.stringify(events[id - 1][3])}`)])]
    .join("\n").toLowerCase());
  return texts[r];
};
const filter = () => {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  shown = [];
  rows.forEach((row, r) => {
    if (hidden.has(row.kind) || (trouble && !row.trouble)) return;
    if (words.length && !words.every((word) => textOf(r).includes(word))) return;
    shown.push(r);
  });
  $("count").textContent = shown.length === rows.length ? `${rows.length.toLocaleString("en")} rows` :
    `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
  height.style.height = `${shown.length * ROW}px`;
  draw(true);
};
const press = (button, state) => button.setAttribute("aria-pressed", state);
kinds.forEach((kind, k) => {
  if (!kind.count || k === 0) return; // the run itself
  const button = made("button", "kind", `${kind.name} ${kind.count.toLocaleString("en")}`);
  button.type = "button";
  press(button, true);
  button.addEventListener("click", () => { if (!hidden.delete(k)) hidden.add(k); press(button, !hidden.has(k)); filter(); });
  $("kinds").append(button);
});

// --- details -------------------------------------------------------------------------------------

const SHORT = 60;
const isPlain = (value) => typeof value !== "object" || value === null;
const pretty = (value) => {
  if (isPlain(value) && typeof value !== "string") return String(value);
  if (typeof value !== "string") return Object.values(value).every(isPlain) ? Object.values(value).join(" ") : JSON.stringify(value, null, 1);
  if (value.length <= SHORT || !/^\s*[[{"]/.test(value)) return value;
  try { const read = JSON.parse(value); return typeof read === "string" ? read : JSON.stringify(read, null, 1).replace(NEW_LINE, "$1\n  "); } catch { return value; }
};
const told = (pairs) => {
  const dl = made("dl");
  pairs.forEach(([name, value]) => {
    if (value === "" || value === null || value === undefined) return;
    const text = pretty(value), dd = made("dd");
    if (text.includes("\n") || text.length > SHORT) { dd.className = "block"; dd.append(made("pre", "", text)); } else dd.textContent = text;
    dl.append(made("dt", "", name), dd);
  });
  return dl;
};
const barTold = (bar) => {
  const symbol = symbols[bar.symbol], element = made("div", `bar ${symbol.colour}`);
  element.append(made("div", "said", `${symbol.text} ${bar.id} ${bar.outcome}${bar.said ? `: ${bar.said}` : ""}`));
  const last = bar.closed === null ? end : bar.closed, started = bar.started === null ? last : bar.started;
  element.append(told(bar.point ? [["at", `${elapsed(bar.scheduled)}, ${clock(bar.scheduled)}`]] : [
    ["scheduled", `${elapsed(bar.scheduled)}, ${clock(bar.scheduled)}`],
    [bar.started === null && bar.closed === null ? "waits for" : "waited", started - bar.scheduled >= 0.0005 ? elapsed(started - bar.scheduled) : ""],
    [bar.closed === null ? "runs for" : "ran", bar.started === null ? "" : elapsed(last - bar.started)],
    ["due", bar.due === null ? "" : clock(bar.due)],
    [bar.started === null ? "task list" : "worker", bar.place]]));
  return element;
};
const stackAt = (id) => {
  let found = null;
  for (const [since, text] of data.stacks || []) { if (since > id) break; found = [since, text]; }
  return found;
};
const eventTold = (id) => {
  const [, type, time, attributes] = events[id - 1], element = made("section");
  element.append(made("h3", "", `Event ${id}: ${type}`), made("p", "dim", `${elapsed(time)}, ${clock(time)}`));
  if (data.stacks) {
    const stack = stackAt(id);
    element.append(made("h3", "", stack ? `Where the code stood (since event ${stack[0]})` : "The code had not run yet"));
    if (stack) element.append(made("pre", "stack", data.texts[stack[1]]));
    element.append(made("h3", "", "Attributes"));
  }
  element.append(told(Object.entries(attributes)));
  return element;
};
const step = (by) => { const id = Math.min(Math.max((chosenEvent || 1) + by, 1), events.length); if (ofEvent.has(id)) openEvent(id, true); };
const details = () => {
  const aside = $("details");
  aside.replaceChildren();
  if (chosen < 0) { redraw(); return; }
  const row = rows[chosen], head = made("div", "head"), close = made("button", "", "Close");
  close.type = "button";
  close.title = "Close (Esc)";
  close.addEventListener("click", () => { choose(-1); list.focus(); });
  head.append(made("h2", "", row.label), close);
  aside.append(head);
  if (row.name || row.note) aside.append(made("p", "dim", [row.name, row.note].filter(Boolean).join(" · ")));
  const steps = made("p");
  [["‹ event", -1, "The event before ([)"], ["event ›", 1, "The next event (])"]].forEach(([text, by, title]) => {
    const button = made("button", "", text);
    button.type = "button";
    button.title = title;
    button.addEventListener("click", () => step(by));
    steps.append(button, " ");
  });
  aside.append(steps);
  if (chosenEvent) aside.append(eventTold(chosenEvent));
  const own = chosenEvent && ofEvent.get(chosenEvent)[0] === chosen ? ofEvent.get(chosenEvent)[1] : row.bars.length - 1;
  const low = Math.max(0, Math.min(own - 10, row.bars.length - 20)), high = Math.min(row.bars.length, low + 20);
  aside.append(made("h3", "", row.bars.length > 20 ? `${low + 1} to ${high} of ${row.bars.length}` : "All of it"));
  row.bars.slice(low, high).forEach((bar) => {
    aside.append(barTold(bar));
    const buttons = made("div", "events");
    bar.events.forEach((id) => {
      const button = made("button", "", `${id} ${events[id - 1][1]}`);
      button.type = "button";
      button.setAttribute("aria-current", id === chosenEvent);
      button.addEventListener("click", () => openEvent(id, false));
      buttons.append(button);
    });
    aside.append(buttons);
  });
  redraw();
};
const reveal = (r) => {
  const index = shown.indexOf(r);
  if (index < 0) return;
  const top = index * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
};
const choose = (r, id = 0) => {
  chosen = r;
  chosenEvent = r < 0 ? 0 : id || rows[r].bars[rows[r].bars.length - 1].events.slice(-1)[0];
  if (r >= 0) { reveal(r); list.setAttribute("aria-activedescendant", `row-${r}`); }
  else list.removeAttribute("aria-activedescendant");
  details();
};
const openEvent = (id, isStep) => {
  const [r] = ofEvent.get(id);
  if (!shown.includes(r) && !isStep) { hidden.clear(); trouble = false; wanted = $("filter").value = ""; document.querySelectorAll(".kind").forEach((each) => press(each, true)); press($("trouble"), false); filter(); }
  choose(r, id);
  $("details").scrollTop = 0;
};

// --- tooltip -------------------------------------------------------------------------------------

const TOLD = ["input", "result", "reason", "details", "control", "cause", "timeoutType"];
const showTip = (event) => {
  const element = event.target.closest(".row");
  if (!element) { tip.hidden = true; return; }
  const row = rows[element.dataset.row], track = element.querySelector(".track").getBoundingClientRect();
  const x = event.clientX - track.left;
  if (x < 0 || x > track.width) { tip.hidden = true; return; }
  const distance = (bar) => {
    const left = at(bar.scheduled) * track.width, right = at(bar.closed === null ? end : bar.closed) * track.width;
    return x < left ? left - x : x > right + 14 ? x - right - 14 : 0;
  };
  let nearest = null, least = 12;
  row.bars.forEach((bar) => { const far = distance(bar); if (far < least || (far === 0 && least === 0 && bar.mark)) { nearest = bar; least = far; } });
  if (!nearest) { tip.hidden = true; return; }
  tip.replaceChildren(made("strong", "", row.label), barTold(nearest));
  const attributes = nearest.events.flatMap((id) => Object.entries(events[id - 1][3]).filter(([name]) => TOLD.includes(name)));
  tip.append(told(attributes.map(([name, value]) => [name, typeof value === "string" ? value.slice(0, 400) : value])));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 18}px`;
};

// --- mouse and keys ------------------------------------------------------------------------------

list.addEventListener("scroll", () => { tip.hidden = true; later(); }, { passive: true });
list.addEventListener("mousemove", showTip);
list.addEventListener("mouseleave", () => { tip.hidden = true; });
list.addEventListener("click", (event) => {
  const element = event.target.closest(".row");
  if (!element) return;
  tip.hidden = true;
  const r = Number(element.dataset.row), bar = event.target.dataset.bar;
  choose(r, bar === undefined ? 0 : rows[r].bars[bar].events.slice(-1)[0]);
  if (innerWidth <= 760) $("details").scrollIntoView({ block: "nearest" }); // below the rows there
});
list.addEventListener("wheel", (event) => {
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    const axis = $("axis").getBoundingClientRect();
    zoom(Math.exp(event.deltaY / 300), from + Math.min(Math.max((event.clientX - axis.left) / axis.width, 0), 1) * (to - from));
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    pan((event.deltaX || event.deltaY) / 800);
  }
}, { passive: false });
$("axis").addEventListener("pointerdown", (event) => {
  const axis = $("axis"), box = axis.getBoundingClientRect(), range = made("span", "range");
  const place = (each) => { // the edges are wide
    const exact = (each.clientX - box.left) / box.width;
    return exact < 0.01 ? 0 : exact > 0.99 ? 1 : exact;
  };
  const start = place(event);
  let stop = start;
  axis.setPointerCapture(event.pointerId);
  axis.append(range);
  const move = (each) => {
    stop = place(each);
    range.style.left = `${Math.min(start, stop) * 100}%`;
    range.style.width = `${Math.abs(stop - start) * 100}%`;
  };
  const release = () => {
    axis.removeEventListener("pointermove", move);
    range.remove();
    if (Math.abs(stop - start) * box.width < 4) return;
    const width = to - from;
    [from, to] = [from + Math.min(start, stop) * width, from + Math.max(start, stop) * width];
    zoom(1);
  };
  axis.addEventListener("pointermove", move);
  axis.addEventListener("pointerup", release, { once: true });
});
$("axis").addEventListener("dblclick", fit);
$("in").addEventListener("click", () => zoom(0.5));
$("out").addEventListener("click", () => zoom(2));
$("fit").addEventListener("click", fit);
const toggleOrder = () => { byOrder = !byOrder; press($("order"), byOrder); fit(); };
const toggleTrouble = () => { trouble = !trouble; press($("trouble"), trouble); filter(); };
$("order").addEventListener("click", toggleOrder);
$("trouble").addEventListener("click", toggleTrouble);
$("filter").addEventListener("input", (event) => { wanted = event.target.value; filter(); });
document.querySelectorAll("#open button").forEach((button) => button.addEventListener("click", () => openEvent(Number(button.dataset.event), false)));

const move = (by) => {
  if (!shown.length) return;
  const index = shown.indexOf(chosen);
  choose(shown[Math.min(Math.max(index + by, 0), shown.length - 1)]); // none chosen is before the first
};
const KEYS = {
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": fit, "o": toggleOrder, "t": toggleTrouble,
  "[": () => step(-1), "]": () => step(1), "/": () => $("filter").focus(), "Escape": () => { tip.hidden = true; choose(-1); list.focus(); },
};
const LIST_KEYS = {
  "ArrowDown": () => move(1), "ArrowUp": () => move(-1), "PageDown": () => move(20), "PageUp": () => move(-20),
  "Home": () => move(-rows.length), "End": () => move(rows.length), "ArrowLeft": () => pan(-0.2), "ArrowRight": () => pan(0.2),
  "Enter": () => $("details").focus(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isText = event.target.tagName === "INPUT";
  if (isText && event.key === "Escape") { list.focus(); return; }
  // Where the page itself scrolls, the keys that scroll are its own until the rows have the focus.
  const isList = event.target === list || (event.target === document.body && innerWidth > 760);
  const action = !isText && (KEYS[event.key] || (isList && LIST_KEYS[event.key]));
  if (!action) return;
  event.preventDefault();
  action();
});
addEventListener("resize", redraw);

data.legend.forEach(([name, text, colour]) => {
  const entry = made("span", "", `${name}`);
  entry.prepend(made("b", colour, text), " ");
  $("legend").append(entry);
});
filter();
redraw();
})();
