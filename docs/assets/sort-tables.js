// Tables inside `.sortable` are sorted by the column whose head is clicked: as numbers where all cells begin with one.
(() => {
  "use strict";
  const numberOf = (text) => parseFloat(text.replaceAll(",", ""));
  function sort(table, column, isDown) {
    const body = table.tBodies[0], rows = [...body.rows], text = (row) => row.cells[column].textContent.trim();
    const isNumber = rows.every((row) => text(row) === "–" || !Number.isNaN(numberOf(text(row))));
    // what is not known stays at the end
    const key = (row) => isNumber ? (text(row) === "–" ? Infinity * (isDown ? -1 : 1) : numberOf(text(row))) : text(row).toLowerCase();
    rows.sort((a, b) => { const [x, y] = [key(a), key(b)]; return (x < y ? -1 : x > y ? 1 : 0) * (isDown ? -1 : 1); });
    body.append(...rows);
  }
  function prepare(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isDown = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        sort(table, column, isDown);
      });
    });
  }
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".sortable table").forEach(prepare));
})();
