// Draws mathematics, programs and differences. Texts come from models: they are only ever set as text, and
// KaTeX gets neither trust nor room to expand macros without end.
"use strict";

const draw = (() => {
  const MAX_MATH = 400; // pieces; the rest stays as it is written
  const MAX_PROGRAM = 60_000; // characters
  const MAX_DIFF = 4_000; // characters of either side

  const MAX_DEPTH = 300; // levels of elements: some hundred nested roots crash the browser's layout
  const MAX_ELEMENTS = 40_000; // on one page

  function mathematics(root) {
    let pieces = 0;
    let elements = 0;
    for (const piece of root.querySelectorAll(".math:not([data-drawn])")) {
      piece.dataset.drawn = "";
      const drawing = ++pieces <= MAX_MATH && elements < MAX_ELEMENTS && drawn(piece);
      if (drawing) {
        elements += drawing.getElementsByTagName("*").length;
        piece.replaceChildren(...drawing.childNodes);
        continue;
      }
      piece.classList.add("failed");
      piece.title = "shown as it is written: KaTeX cannot draw it, or it is too much";
      if (piece.parentElement.className === "drawing") piece.parentElement.hidden = true;
    }
  }

  // What KaTeX makes of a piece, not yet part of the page: it may be too much for the page.
  function drawn(piece) {
    const place = document.createElement("span");
    try {
      katex.render(piece.textContent, place, {
        displayMode: piece.dataset.math === "display",
        throwOnError: true, trust: false, strict: false, maxExpand: 200, maxSize: 20,
      });
    } catch {
      return null;
    }
    if (place.getElementsByTagName("*").length > MAX_ELEMENTS / 4) return null;
    return isDeeper(place, MAX_DEPTH) ? null : place;
  }

  function isDeeper(root, limit) {
    let level = [root];
    for (let depth = 0; level.length; depth++) {
      if (depth > limit) return true;
      level = level.flatMap((element) => [...element.children]);
    }
    return false;
  }

  function programs(root) {
    for (const code of root.querySelectorAll(".code code:not([data-drawn])")) {
      code.dataset.drawn = "";
      const language = (code.dataset.language || "python").toLowerCase();
      if (code.textContent.length > MAX_PROGRAM || !hljs.getLanguage(language)) continue;
      // What highlight.js returns is escaped; it is the one place where markup is made of a response.
      code.innerHTML = hljs.highlight(code.textContent, { language, ignoreIllegals: true }).value;
    }
  }

  // Text with a visible name for each character that cannot be seen.
  const UNSEEN = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Co}\p{Mn}\u115f\u3164]/u;
  function appendVisible(parent, text) {
    let plain = "";
    const flush = () => { if (plain) parent.append(plain); plain = ""; };
    for (const character of text) {
      if (" \n\t".includes(character) || !UNSEEN.test(character)) { plain += character; continue; }
      flush();
      const box = document.createElement("span");
      box.className = "unseen";
      box.textContent = "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      parent.append(box);
    }
    flush();
  }

  function differences(root) {
    for (const pair of root.querySelectorAll("[data-diff]:not([data-drawn])")) {
      pair.dataset.drawn = "";
      const expected = pair.querySelectorAll('[data-side="expected"]');
      const extracted = pair.querySelector('[data-side="extracted"]');
      if (expected.length === 1 && extracted) compare(pair, expected[0], extracted);
      else for (const box of pair.querySelectorAll("[data-side]")) visible(box);
    }
    for (const box of root.querySelectorAll(".raw:not([data-drawn])")) {
      box.dataset.drawn = "";
      if (box.textContent.length <= MAX_PROGRAM) visible(box);
    }
  }

  function visible(box) {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (UNSEEN.test(walker.currentNode.data.replaceAll(/[ \n\t]/g, ""))) nodes.push(walker.currentNode);
    for (const node of nodes) {
      const pieces = document.createDocumentFragment();
      appendVisible(pieces, node.data);
      node.replaceWith(pieces);
    }
  }

  function compare(pair, expected, extracted) {
    const [left, right] = [expected.textContent, extracted.textContent];
    if (left === right || left.length > MAX_DIFF || right.length > MAX_DIFF) {
      visible(expected);
      visible(extracted);
      if (left === right && pair.tagName !== "TR") {
        const note = document.createElement("p");
        note.className = "same";
        note.textContent = "The same characters.";
        pair.after(note);
      }
      return;
    }
    // Character by character of the texts as they are: drawing them would hide the difference.
    const parts = Diff.diffChars(left, right);
    const lonely = !parts.some((part) => !part.added && !part.removed && part.value.trim());
    if (lonely) { visible(expected); visible(extracted); return; } // nothing in common: colours would say nothing
    expected.replaceChildren();
    extracted.replaceChildren();
    for (const part of parts) {
      for (const [box, tag, wanted] of [[expected, "del", !part.added], [extracted, "ins", !part.removed]]) {
        if (!wanted) continue;
        const parent = part.added || part.removed ? document.createElement(tag) : box;
        appendVisible(parent, part.value);
        if (parent !== box) box.append(parent);
      }
    }
  }

  return (root) => { mathematics(root); programs(root); differences(root); };
})();
