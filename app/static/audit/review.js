// Keys, the way through the list, and what follows a label. The pages also work without this script.
"use strict";

(() => {
  const sample = () => document.getElementById("sample");
  const entries = () => document.getElementById("entries");
  const entryOf = (id) => entries()?.querySelector(`li[data-id="${CSS.escape(id)}"]`);
  const current = () => sample()?.dataset.id ?? "";

  // --- the sample that is shown ---
  function shown() {
    const article = sample();
    if (!article) return;
    draw(article);
    keepView(article);
    if (article.dataset.title) document.title = `${article.dataset.title} · goldcheck`;
    if (article.dataset.address) history.replaceState(null, "", article.dataset.address);
    for (const old of entries()?.querySelectorAll(".current") ?? []) {
      old.classList.remove("current");
      old.firstElementChild.removeAttribute("aria-current");
    }
    const entry = entryOf(current());
    entry?.classList.add("current");
    entry?.firstElementChild.setAttribute("aria-current", "true");
    entry?.scrollIntoView({ block: "nearest" });
    const next = article.querySelector('#label input[name="next"]');
    if (next) next.value = neighbour(1, true)?.dataset.id ?? "";
  }

  function neighbour(step, unlabelled) {
    let entry = entryOf(current());
    if (!entry) return step > 0 ? entries()?.querySelector("li:not([data-answer])") : null;
    do entry = step > 0 ? entry.nextElementSibling : entry.previousElementSibling;
    while (entry && unlabelled && entry.dataset.answer);
    return entry;
  }

  function go(entry) {
    const link = entry?.querySelector("a");
    if (!link) return;
    htmx.ajax("GET", link.getAttribute("href"), { target: "#sample", swap: "outerHTML", source: "#sample" });
  }

  // --- raw or drawn, kept from sample to sample ---
  let raw = false;
  function keepView(article) {
    const button = article.querySelector(".toggle-raw");
    if (!button) return;
    button.setAttribute("aria-pressed", String(raw));
    article.querySelector(".view-drawn").hidden = raw;
    article.querySelector(".view-raw").hidden = !raw;
  }
  function toggleRaw() { raw = !raw; keepView(sample()); }

  // --- after a label, or its withdrawal ---
  document.addEventListener("htmx:after:request", (event) => {
    const [id, answer] = (event.detail.ctx.response?.headers.get("X-Labelled") ?? "").split(" ");
    if (!id) return;
    const name = document.querySelector('#label input[name="labeler"]')?.value;
    if (name) document.getElementById("labeler").value = name;
    const entry = entryOf(id);
    const before = entry?.dataset.answer;
    if (entry && answer) entry.dataset.answer = answer;
    if (entry && !answer) delete entry.dataset.answer;
    const change = answer ? Number(!before) : -1;
    count("labelled-count", change);
    count("waiting-count", -change);
  });
  function count(id, change) {
    const place = document.getElementById(id);
    if (place) place.textContent = String(Math.max(0, Number(place.textContent) + change));
  }
  // Drawn before it becomes part of the page, which is then laid out once.
  document.addEventListener("htmx:before:swap", (event) => {
    for (const task of event.detail.tasks) draw(task.fragment);
  });
  document.addEventListener("htmx:after:swap", () => {
    shown();
    window.scrollTo({ top: 0 });
    // The focus was on what has been replaced: readers of the page go on at the new sample.
    if (document.activeElement === document.body) sample()?.focus({ preventScroll: true });
  });
  document.addEventListener("htmx:response:error", (event) => {
    event.preventDefault();
    const ctx = event.detail.ctx;
    let words = `The service answered ${ctx.response.status}.`;
    try { words = JSON.parse(ctx.text).detail || words; } catch { /* not a problem document */ }
    say(words);
    ctx.swap = "none";
  });
  document.addEventListener("htmx:error", () => say("The service cannot be reached; nothing was stored."));
  function say(words) {
    let place = sample().querySelector(".message");
    if (!place) {
      place = document.createElement("p");
      place.className = "message";
      place.setAttribute("role", "alert");
      sample().prepend(place);
    }
    place.textContent = words;
    window.scrollTo({ top: 0 });
  }

  // --- clicks ---
  document.addEventListener("click", (event) => {
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
    const link = event.target.closest("#entries a");
    if (link && plain) { event.preventDefault(); go(link.parentElement); }
    if (event.target.closest(".toggle-raw")) toggleRaw();
    if (event.target.closest("#help-button")) document.getElementById("help").showModal();
    if (event.target.closest("#more-filters")) showFilters();
  });
  document.addEventListener("change", (event) => { // one cause, or none
    if (event.target.name !== "cause" || !event.target.checked) return;
    for (const other of event.target.form.querySelectorAll('input[name="cause"]')) other.checked = other === event.target;
  });
  function showFilters(open) {
    const button = document.getElementById("more-filters");
    const fields = document.getElementById("filter-fields");
    fields.hidden = !(open ?? fields.hidden);
    button.setAttribute("aria-expanded", String(!fields.hidden));
  }
  // Empty filters stay out of the address.
  document.getElementById("filters")?.addEventListener("submit", (event) => {
    for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
    const order = event.target.elements.order;
    if (order?.value === "queue") order.disabled = true;
  });
  window.addEventListener("pageshow", () => {
    for (const field of document.getElementById("filters")?.elements ?? []) field.disabled = false;
  });

  // --- keys ---
  const KEYS = {
    j: () => go(neighbour(1)), ArrowRight: () => go(neighbour(1)),
    k: () => go(neighbour(-1)), ArrowLeft: () => go(neighbour(-1)),
    r: toggleRaw,
    z: () => document.getElementById("undo")?.requestSubmit(),
    "/": () => document.getElementById("text")?.focus(),
    "?": () => document.getElementById("help").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
    // Back to the keys. In the fields of a label the return key does the same: it is no answer.
    const done = event.key === "Escape" || (event.key === "Enter" && event.target.closest("#label"));
    if (typing && done) { event.preventDefault(); typing.blur(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog")) return;
    const button = sample()?.querySelector(`#label button[data-key="${CSS.escape(event.key)}"]`);
    const cause = /^[1-9]$/.test(event.key) && sample()?.querySelector(`#label input[data-key="${event.key}"]`);
    const act = KEYS[event.key];
    if (!button && !cause && !act) return;
    event.preventDefault();
    if (event.repeat && (button || event.key === "z")) return; // a key held down is one label
    if (button) button.form.requestSubmit(button);
    else if (cause) cause.click();
    else act();
  });

  if (document.querySelector(".chips")) showFilters(false);
  shown();
})();
