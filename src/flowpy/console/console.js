"use strict";
(() => {
  const pulse = document.getElementById("pulse");

  // A message of what was done is said once: not again when the page is loaded anew.
  const here = new URL(location.href);
  if (here.searchParams.has("done")) {
    here.searchParams.delete("done");
    history.replaceState(null, "", here);
  }

  const live = document.getElementById("live");
  const every = live ? Number(live.dataset.every || 0) : 0;
  if (!every) return;

  const say = (text, style) => {
    if (pulse.textContent !== text) pulse.textContent = text;
    pulse.className = style;
  };

  // What somebody reads or marks must not change under the hand.
  const isInUse = () => {
    const chosen = getSelection();
    return chosen && !chosen.isCollapsed && live.contains(chosen.anchorNode);
  };

  // Whether somebody has begun to fill in a form.
  const isWritten = () => [...document.querySelectorAll(".actions :is(input:not([type=hidden]), textarea)")]
    .some((each) => (each.type === "checkbox" ? each.checked : each.value));

  const opened = () => new Set([...live.querySelectorAll("details[open]")].map((each) => each.dataset.key));

  let shown = live.innerHTML;
  const show = (next) => {
    live.dataset.version = next.dataset.version || "";
    if (next.innerHTML === shown) return;
    const open = opened();
    const focused = live.contains(document.activeElement) ? document.activeElement : null;
    const place = focused ? [...live.querySelectorAll("a, summary")].indexOf(focused) : -1;
    shown = next.innerHTML;
    live.replaceChildren(...next.childNodes);
    for (const each of live.querySelectorAll("details")) each.open = open.has(each.dataset.key);
    if (place >= 0) live.querySelectorAll("a, summary")[place]?.focus({ preventScroll: true });
  };

  const look = async () => {
    if (document.hidden || isInUse()) return true;
    const asked = live.dataset.version ? { "X-Seen": live.dataset.version } : {};
    const reply = await fetch(location.href, { headers: asked, cache: "no-store" });
    if (reply.status === 204) return true;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const next = page.getElementById("live");
    if (!next) {
      location.reload();
      return false;
    }
    const goesOn = Boolean(next.dataset.every);
    if (next.dataset.state !== live.dataset.state) {
      if (!goesOn && !isWritten()) {
        location.reload();
        return false;
      }
      // The forms stand outside of what is replaced: nobody writes the input of a signal twice.
      live.dataset.state = next.dataset.state;
      document.title = page.title;
      document.querySelector(".head h1").replaceChildren(...page.querySelector(".head h1").childNodes);
    }
    show(next);
    if (!goesOn) {
      for (const each of document.querySelectorAll(".actions button")) each.disabled = true;
      say("", "");
    }
    return goesOn;
  };

  const again = async () => {
    let goesOn = true;
    const began = performance.now();
    try {
      goesOn = await look();
      if (goesOn) say("live", "live");
    } catch {
      say("the service does not answer", "lost");
    }
    // A page that takes long to make is asked for less often.
    if (goesOn) setTimeout(again, Math.max(every, 5 * (performance.now() - began)));
  };

  say("live", "live");
  setTimeout(again, every);
})();
