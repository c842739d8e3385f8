"use strict";
// Pages work without this script. It adds: `/` focuses the search, lists update while you type, and texts get a copy
// button.

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.querySelector("input[type=search]");
  if (search) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});

for (const form of document.querySelectorAll("form[data-live]")) {
  const target = document.getElementById(form.dataset.live);
  let timer, latest;
  const load = async () => {
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = form.getAttribute("action") + (fields.length ? "?" + new URLSearchParams(fields) : "");
    latest?.abort();
    latest = new AbortController();
    try {
      const answer = await fetch(address, { signal: latest.signal });
      // A half-typed value may be refused. Keep the list until the rest of it is typed.
      if (answer.status === 400) return;
      if (!answer.ok || answer.redirected) return form.submit();
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      target.replaceChildren(...document.adoptNode(page.getElementById(target.id)).childNodes);
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, 150);
  });
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
}

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
