"use strict";
// Pages work without this script. It adds: `/` and Ctrl+K open the search, lists, the choices of fields and the sentence of
// a check update while you type, the list of the newest deploys reads itself again, texts get a copy button, rows are all
// chosen in place or by one box, and Escape answers a question with no.

// The part of a page with this id, or nothing while a half-typed value is refused. With `sent`, the page answers a form.
const part = async (address, id, signal, sent) => {
  const headers = { "X-Part": id };
  const answer = await fetch(address, sent ? { method: "POST", body: sent, headers, signal } : { headers, signal });
  if (answer.status === 400) return null;
  if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return document.adoptNode(page.getElementById(id)).childNodes;
};

// Above rows with boxes stands one box for all of them. It has no name: only those of the rows are sent.
const boxesOf = (form) => [...form.querySelectorAll(`input[name="${form.dataset.select}"]`)];
const sumUp = (form) => {
  const all = form.querySelector("[data-all]");
  if (!all) return;
  const boxes = boxesOf(form);
  const selected = boxes.filter((box) => box.checked).length;
  all.checked = selected === boxes.length;
  all.indeterminate = selected > 0 && !all.checked;
};
const offerAll = (within) => {
  for (const form of within.querySelectorAll("form[data-select]")) {
    const count = boxesOf(form).length;
    if (count < 2) continue;
    const [label, all] = ["label", "input"].map((tag) => document.createElement(tag));
    label.className = "check";
    all.type = "checkbox";
    all.dataset.all = "";
    label.append(all, `Select all ${count} on this page`);
    form.querySelector(".scroll").before(label);
    sumUp(form);
  }
};
offerAll(document);
document.addEventListener("change", ({ target }) => {
  const form = target.closest("form[data-select]");
  if (!form) return;
  if (target.name === form.dataset.select) sumUp(form);
  if (!target.matches("[data-all]")) return;
  for (const box of boxesOf(form)) box.checked = target.checked;
});
// Whoever comes back finds the boxes of the rows as they left them.
addEventListener("pageshow", () => document.querySelectorAll("form[data-select]").forEach(sumUp));

// Replaces what is in an element. Whoever has the focus in it keeps it on the same link or field, or else gets it on `other`.
const refill = (element, nodes, other) => {
  const held = element.contains(document.activeElement) && document.activeElement;
  element.replaceChildren(...nodes);
  offerAll(element);
  if (!held) return;
  const isSame = (one) => ["href", "name", "value", "textContent"].every((property) => one[property] === held[property]);
  ([...element.querySelectorAll(held.localName)].find(isSame) ?? other).focus();
};

// Calls `load` once typing pauses for so many milliseconds. The signal aborts the call when a later one begins.
const whileTyping = (form, load, pause = 150, failed = () => form.submit()) => {
  let timer, latest;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      latest?.abort();
      latest = new AbortController();
      load(latest.signal).catch((error) => error.name === "AbortError" || failed());
    }, pause);
  });
};

const link = document.querySelector("a.find");
let dialog;

// What the search offers beside its results: the pages of the navigation, and the form of a new service for whoever may
// create one, if each typed word begins one of theirs.
const offered = (typed) => {
  const rail = document.getElementById("rail");
  const pages = [...rail.querySelectorAll("nav a")].map((one) => [one.firstChild.textContent.trim(), one.pathname, "page"]);
  if (rail.dataset.create) pages.push(["New service", rail.dataset.create, "form"]);
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (label, word) => label.toLowerCase().split(" ").some((one) => one.startsWith(word));
  const meant = pages.filter(([label]) => words.length && words.every((word) => has(label, word)));
  return meant.map(([label, address, kind]) => {
    const [item, to, mark] = ["li", "a", "span"].map((tag) => document.createElement(tag));
    to.href = address;
    to.textContent = label;
    mark.className = "mark none";
    mark.textContent = kind;
    item.append(to, " ", mark);
    return item;
  });
};

// The search of all pages: the list of the page behind the link, in a dialog.
const openSearch = () => {
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.className = "finder";
    dialog.setAttribute("aria-label", "Search");
    dialog.innerHTML = `<form role="search" action="${link.pathname}"><input type="search" name="q" maxlength="255"
      aria-label="Name or alias" aria-describedby="finder-hint" autocomplete="off"><button class="quiet" type="button">Close</button></form>
      <p id="finder-hint" class="hint">Enter opens the first result, arrow keys choose another one, Esc closes.</p>
      <div></div><ul class="results" aria-label="Pages"></ul>`;
    document.body.append(dialog);
    const [form, , found, pages] = dialog.children;
    const [field, close] = form.elements;
    // A hidden field keeps the focus until the next frame, and would take a key that opens the search again.
    const leave = () => (document.activeElement.blur(), dialog.close());
    close.addEventListener("click", leave);
    const term = () => field.value.trim();
    // The results, the pages, and what leads to more.
    const choices = () => [".results a", "p a"].flatMap((which) => [...dialog.querySelectorAll(which)]);
    // What the results are for.
    let shown = "";
    const load = async (signal) => {
      const asked = term();
      const results = asked ? await part(link.pathname + "?" + new URLSearchParams({ q: asked }), "results", signal) : [];
      if (!results) return;
      refill(found, results, field);
      shown = asked;
    };
    // Results that come too late, or not at all, do not stop whoever leaves for one.
    let leaves = false;
    whileTyping(form, load, 150, () => leaves || form.submit());
    form.addEventListener("input", () => pages.replaceChildren(...offered(term())));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      // Whoever types fast is ahead of the results.
      if (shown !== term()) await load().catch(() => {});
      const first = shown === term() && choices()[0];
      leaves = true;
      if (first) first.click();
      else form.submit();
    });
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        // By default, Escape only clears a search field.
        event.preventDefault();
        return leave();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const stops = [field, ...choices()];
      const at = Math.max(stops.indexOf(document.activeElement), 0);
      event.preventDefault();
      stops[(at + step + stops.length) % stops.length].focus();
    });
  }
  if (!dialog.open) dialog.showModal();
  const field = dialog.querySelector("input");
  field.focus();
  field.select();
};

const clicked = (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || document.getElementById("results")) return;
  event.preventDefault();
  openSearch();
};
for (const one of document.querySelectorAll("a.find")) one.addEventListener("click", clicked);

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  const letter = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if ((!slash && !letter) || event.target.closest(".graphiql-container")) return;
  // The search page has a field of its own, and so has the reference, which visitors use without signing in.
  if (link && !document.getElementById("results")) {
    event.preventDefault();
    return openSearch();
  }
  const own = document.querySelector("main input[type=search]");
  if (!own) return;
  event.preventDefault();
  own.focus();
  own.select();
});

// The address of a list names only what is asked for, so that it is short enough to share.
document.addEventListener("formdata", ({ target, formData }) => {
  if (target.method !== "get") return;
  const given = [...formData].filter(([, value]) => value !== "");
  for (const name of new Set(formData.keys())) formData.delete(name);
  for (const [name, value] of given) formData.append(name, value);
});

for (const form of document.querySelectorAll("form[data-live]")) {
  const target = document.getElementById(form.dataset.live);
  whileTyping(form, async (signal) => {
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = form.getAttribute("action") + (fields.length ? "?" + new URLSearchParams(fields) : "");
    const list = await part(address, target.id, signal);
    if (!list) return;
    refill(target, list, form.querySelector("input:not([type=hidden])"));
    history.replaceState(null, "", address);
  });
}

// A list of what is newest reads itself again while it is seen, and nobody types, selects a text of it or has the focus in
// it. It ends with the first answer that fails, and after an hour in which nobody did anything on the page.
for (const list of document.querySelectorAll("[data-refresh]")) {
  const every = 1000 * list.dataset.refresh;
  const longest = 3600 * 1000;
  const note = document.createElement("p");
  note.className = "hint";
  const say = (words) => {
    note.textContent = words;
    list.before(note);
  };
  let read = Date.now();
  let used = read;
  let latest;
  for (const kind of ["keydown", "pointerdown", "scroll", "visibilitychange"]) {
    document.addEventListener(kind, () => (used = Date.now()), { passive: true });
  }
  // What is typed changes the list by itself.
  document.addEventListener("input", () => {
    latest?.abort("typed");
    read = Date.now();
  });
  const isUsed = () => {
    const selection = getSelection();
    return list.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(list, true));
  };
  const timer = setInterval(async () => {
    const now = Date.now();
    if (document.hidden || now - read < every || now - used > longest || isUsed()) return;
    read = now;
    const { signal } = (latest = new AbortController());
    const late = setTimeout((one) => one.abort("late"), every, latest);
    try {
      const rows = await part(location.pathname + location.search, list.id, signal);
      if (!rows) throw new Error("refused");
      if (signal.aborted || isUsed()) return;
      list.replaceChildren(...rows);
      say("Updated at " + new Date().toLocaleTimeString() + ".");
    } catch {
      if (signal.reason === "typed") return;
      clearInterval(timer);
      say("The list is no longer updated. Reload the page to go on.");
    } finally {
      clearTimeout(late);
    }
  }, 1000);
}

// A field that names something of many offers what the search of all pages finds, or that of people, who are named by
// their address. What is written counts without it, too.
for (const field of document.querySelectorAll("input[data-find]")) {
  const load = async (signal) => {
    if (!field.value.trim()) return;
    const start = `/${field.dataset.find}/`;
    const words = new URLSearchParams({ of: field.dataset.find, q: field.value });
    const found = await part("/search?" + words, "results", signal);
    if (!found) return;
    const links = [...found].flatMap((node) => [...(node.querySelectorAll?.(`li > a[href^="${start}"]`) ?? [])]);
    // The address of a repository has its number: its alias stands beside its name.
    const alias = (link) =>
      start === "/repositories/"
        ? (link.parentElement.querySelector("code") ?? link).textContent
        : decodeURIComponent(link.getAttribute("href").slice(start.length));
    const named = (link) => new Option(link.textContent, link.dataset.value ?? alias(link));
    if (links.length) field.list.replaceChildren(...links.map(named));
  };
  whileTyping(field, load, 150, () => {});
}

// A field that names something of a kind that is chosen beside it offers things of that kind.
for (const form of document.querySelectorAll("form[data-kind]")) {
  const kind = form.elements[form.dataset.kind];
  const field = form.querySelector("input[data-find]");
  kind.addEventListener("change", () => {
    field.dataset.find = kind.value + "s";
    field.list.replaceChildren();
  });
}

// The form of a check says in a sentence what it asks. Nobody waits for it: if it cannot be had, the last one stays.
for (const form of document.querySelectorAll("form[data-asks]")) {
  const target = document.getElementById(form.dataset.asks);
  const load = async (signal) => {
    const sent = new URLSearchParams(new FormData(form));
    sent.set("do", "sentence");
    const sentence = await part(form.getAttribute("action"), target.id, signal, sent);
    // The same sentence is not read aloud again.
    if (sentence && (sentence[0]?.data ?? "") !== target.textContent) target.replaceChildren(...sentence);
  };
  whileTyping(form, load, 400, () => {});
}

// A picture that is wider than its frame begins at what it is about.
for (const picture of document.querySelectorAll(".graph")) {
  const focus = picture.querySelector(".focus")?.getBoundingClientRect();
  if (focus) picture.scrollLeft += focus.left + focus.width / 2 - picture.getBoundingClientRect().left - picture.clientWidth / 2;
}

for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet copy";
  const what = document.createElement("span");
  what.className = "hidden";
  what.textContent = " " + text.dataset.copy;
  const say = (words) => button.replaceChildren(words, what);
  button.setAttribute("aria-live", "polite");
  say("Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      say("Copied");
    } catch {
      getSelection().selectAllChildren(text);
      say("Press Ctrl+C for");
    }
    setTimeout(() => say("Copy"), 2000);
  });
  (text.closest("pre") ?? text).after(button);
  // What is shown this once is copied next.
  if (text.closest(".notice") && document.activeElement === document.body) button.focus();
}

// The form of something new begins in its first field. A refused one has the focus where it is wrong.
if (/^\/(new\/|integrations\/new$)/.test(location.pathname) && !document.querySelector("main [autofocus]")) {
  document.querySelector("main form :is(input:not([type=hidden]), select, textarea)")?.focus();
}

// The link that chooses all rows of a page loads it again. In place, the focus stays, and so does what is filled in.
for (const all of document.querySelectorAll("a[data-choose]")) {
  const boxes = [...document.querySelectorAll(`input[type=checkbox][form="${all.dataset.choose}"]`)];
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  const isAll = () => boxes.every((box) => box.checked);
  const say = () => (button.textContent = isAll() ? "Choose none" : "Choose all on this page");
  button.addEventListener("click", () => {
    const checked = !isAll();
    for (const box of boxes) box.checked = checked;
    say();
  });
  for (const box of boxes) box.addEventListener("change", say);
  say();
  all.replaceWith(button);
}

// Escape answers a question, such as that of a Delete, with no.
document.addEventListener("keydown", (event) => {
  const question = event.key === "Escape" && event.target.closest("details.confirm[open]");
  if (!question) return;
  question.open = false;
  question.querySelector("summary").focus();
});

for (const form of document.querySelectorAll("form[data-graphql]")) {
  const answer = document.getElementById(form.dataset.graphql);
  const run = async () => {
    const { query, variables } = form.elements;
    answer.textContent = "…";
    try {
      const parameters = { query: query.value, variables: variables.value.trim() ? JSON.parse(variables.value) : null };
      const headers = { "Content-Type": "application/json", Accept: "application/json" };
      const response = await fetch("/graphql", { method: "POST", headers, body: JSON.stringify(parameters) });
      answer.textContent = JSON.stringify(await response.json(), null, 2);
    } catch (error) {
      answer.textContent = error instanceof SyntaxError ? "The variables are not JSON: " + error.message : String(error);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
}
