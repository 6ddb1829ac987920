"use strict";
// Tables that a click, Enter or Space on a column's head sorts: up, down, and as it was.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.value === undefined ? NaN : Number(cell.dataset.value);
    return { value, text: cell.textContent.trim(), infeasible: Number(cell.dataset.infeasible || 0) };
  };
  const compare = (a, b, way) => {
    if (a.infeasible !== b.infeasible) return a.infeasible - b.infeasible;
    const [x, y] = [Number.isNaN(a.value), Number.isNaN(b.value)];
    if (x !== y) return x - y;
    return way * (x ? a.text.localeCompare(b.text, "en", { numeric: true }) : a.value - b.value);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent || "\u00a0";
    button.title = "Sort by this column";
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")] || "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      const rows = original.slice();
      if (next !== "none") {
        head.setAttribute("aria-sort", next);
        const way = next === "ascending" ? 1 : -1;
        rows.sort((a, b) => compare(key(a, column), key(b, column), way));
      }
      body.append(...rows);
    });
    head.replaceChildren(button);
  });
}
