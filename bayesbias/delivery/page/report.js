// A table or figure that is wider than its box says so.
const cue = (box) => {
  if (box.scrollWidth <= box.clientWidth + 1 || box.classList.contains("cued")) return;
  const text = document.createElement("p");
  text.className = "cue";
  text.textContent = "Scroll sideways to see the rest \u2192";
  box.classList.add("cued");
  box.before(text);
};
const cues = () => document.querySelectorAll(".scroll").forEach(cue);
addEventListener("load", cues);
addEventListener("resize", cues);
document.querySelectorAll("details").forEach((part) => part.addEventListener("toggle", cues));

// Long tables can be sorted and filtered; without this script they are read as they are.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  if (rows.length < 4) continue;
  const value = (row, at) => {
    const text = row.cells[at].textContent.trim();
    const number = /[-+]?\d[\d,]*\.?\d*(e[-+]?\d+)?/.exec(text);
    const numeric = row.cells[at].classList.contains("number") && number;
    return numeric ? parseFloat(number[0].replace(/,/g, "")) : text.toLowerCase();
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    head.tabIndex = 0;
    head.title = "Sort";
    head.classList.add("sortable");
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => {
        const [one, two] = [value(a, at), value(b, at)];
        if (typeof one !== typeof two) return typeof one === "number" ? -1 : 1;
        return (one > two) - (one < two);
      };
      body.append(...rows.toSorted((a, b) => (down ? order(b, a) : order(a, b))));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort();
    });
  });
  if (rows.length < 12) continue;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter the rows";
  field.setAttribute("aria-label", "Filter the rows of: " + table.caption.textContent);
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  table.parentNode.before(field);
}
